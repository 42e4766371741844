import type { ComponentChildren } from "preact";

/** The colour of a state. Its text always says the same. */
export type Tone = "good" | "busy" | "warn" | "bad" | "fault" | "quiet";

interface Props {
  readonly tone: Tone;
  readonly title?: string;
  readonly children: ComponentChildren;
}

export function Pill({ tone, title, children }: Props) {
  return (
    <span class={`pill ${tone}`} title={title}>
      {children}
    </span>
  );
}
