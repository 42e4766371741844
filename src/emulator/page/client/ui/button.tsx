import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

interface Props {
  readonly kind?: "plain" | "tonal" | "primary" | "danger" | "quiet";
  readonly label?: string;
  readonly title?: string;
  readonly disabled?: boolean;
  readonly pressed?: boolean;
  readonly expanded?: boolean;
  readonly onPress: () => unknown;
  readonly children: ComponentChildren;
}

/** A button. While the work of a press runs, a second press does nothing. */
export function Button({ kind = "plain", label, title, disabled, pressed, expanded, onPress, children }: Props) {
  const busy = useSignal(false);
  const press = async () => {
    if (busy.value) return;
    busy.value = true;
    try {
      await onPress();
    } finally {
      busy.value = false;
    }
  };
  return (
    <button
      type="button"
      class={`button ${kind}`}
      aria-label={label}
      aria-pressed={pressed}
      aria-expanded={expanded}
      aria-busy={busy.value}
      title={title}
      disabled={disabled}
      onClick={press}
    >
      {children}
    </button>
  );
}
