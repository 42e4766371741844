import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { ControlView, Listed } from "../view.ts";
import { act, copy } from "./actions.ts";
import { count, dayAndTime, relative } from "./format.ts";
import { controls, now } from "./store.ts";
import { inWorld } from "./stream.ts";

interface ButtonProps {
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
export function Button({ kind = "plain", label, title, disabled, pressed, expanded, onPress, children }: ButtonProps) {
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

/** The start of a reference, which differs from its neighbours'. A press copies the whole. */
export function Reference({ value }: { readonly value: string }) {
  const [kind = "", code = ""] = value.split("_");
  return (
    <button type="button" class="reference" title={`Copy ${value}`} onClick={() => copy(value, value)}>
      <span class="kind">{kind}_</span>
      {code.slice(0, 6)}…
    </button>
  );
}

/** A point in time, relative to the emulator's clock. The absolute time is its title. */
export function Ago({ at }: { readonly at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={dayAndTime(at)}>
      {relative(at, now.value)}
    </time>
  );
}

/** Pictures that open in full in a new tab. */
export function Photos({ paths, of }: { readonly paths: readonly string[]; readonly of: string }) {
  if (paths.length === 0) return null;
  return (
    <ul class="photos">
      {paths.map((path, position) => (
        <li key={path}>
          <a href={inWorld(path)} target="_blank" rel="noreferrer">
            <img src={inWorld(path)} alt={`${of}, ${position + 1} of ${paths.length}`} loading="lazy" />
          </a>
        </li>
      ))}
    </ul>
  );
}

/** How many older records the list leaves out. */
export function More({ list, noun }: { readonly list: Listed<unknown>; readonly noun: string }) {
  const rest = list.total - list.items.length;
  if (rest === 0) return null;
  return (
    <p class="more">
      {count(rest)} older {noun} not shown
    </p>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly hint: string;
  /** A line to paste into a terminal. */
  readonly line?: string;
}

/** What a list shows while it has nothing: what to do next. */
export function Empty({ title, hint, line }: EmptyProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{hint}</p>
      {line === undefined ? null : (
        <div class="snippet">
          <code>{line}</code>
          <Button label="Copy the line" onPress={() => copy(line, "the line")}>
            Copy
          </Button>
        </div>
      )}
    </div>
  );
}

/** The colour of a state. Its text always says the same. */
export type Tone = "good" | "busy" | "warn" | "bad" | "fault" | "quiet";

interface PillProps {
  readonly tone: Tone;
  readonly title?: string;
  readonly children: ComponentChildren;
}

export function Pill({ tone, title, children }: PillProps) {
  return (
    <span class={`pill ${tone}`} title={title}>
      {children}
    </span>
  );
}

interface DerivedActionsProps {
  /** What the controls act on: `order`. */
  readonly on: string;
  readonly reference: string;
  /** The controls that have a button of their own, or that the state does not allow. */
  readonly except: readonly string[];
}

/** `startProduction` → `start production`. */
const wordsOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Buttons for the other controls of a record: those that need nothing but its reference. */
export function DerivedActions({ on, reference, except }: DerivedActionsProps) {
  const isOffered = (control: ControlView) =>
    control.on === on && control.required.length === 1 && !except.includes(control.name);
  return (
    <>
      {controls.value.filter(isOffered).map(({ name, about, required: [field = ""] }) => (
        <Button key={name} title={about} onPress={() => act(name, { [field]: reference }, `${wordsOf(name)}: done`)}>
          {wordsOf(name)}
        </Button>
      ))}
    </>
  );
}
