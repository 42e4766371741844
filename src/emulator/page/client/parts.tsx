import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ControlView, Listed } from "../view.ts";
import { act, copy } from "./actions.ts";
import { count, dayAndTime, plural, relative } from "./format.ts";
import { keepFocus, useFirstField } from "./hooks.ts";
import { hrefOf, visited } from "./location.ts";
import { controls, now } from "./store.ts";
import { inWorld } from "./stream.ts";

interface ButtonProps {
  readonly kind?: "plain" | "tonal" | "primary" | "danger" | "quiet";
  readonly label?: string;
  readonly title?: string;
  readonly disabled?: boolean;
  readonly pressed?: boolean;
  readonly expanded?: boolean;
  /** Whether it takes the focus when it appears: the form that it had opened was closed. */
  readonly focused?: boolean;
  readonly onPress: () => unknown;
  readonly children: ComponentChildren;
}

/** A button. While the work of a press runs, a second press does nothing. The focus stays near it when it goes. */
export function Button(props: ButtonProps) {
  const { kind = "plain", label, title, disabled, pressed, expanded, focused = false, onPress, children } = props;
  const busy = useSignal(false);
  const element = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (focused) element.current?.focus();
  }, []);
  const press = async (button: HTMLElement) => {
    if (busy.value) return;
    const restore = keepFocus(button);
    busy.value = true;
    try {
      await onPress();
    } finally {
      busy.value = false;
      restore();
    }
  };
  return (
    <button
      ref={element}
      type="button"
      class={`button ${kind}`}
      aria-label={label}
      aria-pressed={pressed}
      aria-expanded={expanded}
      aria-busy={busy.value}
      title={title}
      disabled={disabled}
      onClick={({ currentTarget }) => press(currentTarget)}
    >
      {children}
    </button>
  );
}

/** The start of a reference, which differs from its neighbours'. It leads to the record's card, and a button copies the whole. */
export function Reference({ value }: { readonly value: string }) {
  const [kind = "", code = ""] = value.split("_");
  const href = hrefOf(value);
  const text = (
    <>
      <span class="kind">{kind}_</span>
      {code.slice(0, 6)}…
    </>
  );
  return (
    <span class="reference">
      {href === undefined ? (
        <span title={value}>{text}</span>
      ) : (
        <a href={href} title={value}>
          {text}
        </a>
      )}
      <button type="button" class="copy" aria-label={`Copy ${value}`} title="Copy" onClick={() => copy(value, value)}>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z" />
        </svg>
      </button>
    </span>
  );
}

const anyReference = /\b([A-Z][a-z]+_[0-9a-z]{26})\b/i;

/** A text whose references lead to their cards. */
export function Linked({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(anyReference).map((part, position) => {
        const href = position % 2 === 1 ? hrefOf(part) : undefined;
        return href === undefined ? part : <a href={href}>{part}</a>;
      })}
    </>
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

/** Pictures that are shown in full, with the one that is shown. */
interface Enlarged {
  readonly pictures: readonly { readonly src: string; readonly alt: string }[];
  readonly at: number;
}

const enlarged = signal<Enlarged>();

/** The picture that was pressed, in full. The arrow keys lead to its neighbours. */
export function Lightbox() {
  const dialog = useRef<HTMLDialogElement>(null);
  const shown = enlarged.value;
  useEffect(() => {
    if (shown !== undefined && dialog.current?.open === false) dialog.current.showModal();
  }, [shown]);
  const picture = shown?.pictures[shown.at];
  const step = (by: number) => {
    if (shown === undefined) return;
    const { length } = shown.pictures;
    enlarged.value = { ...shown, at: (shown.at + by + length) % length };
  };
  return (
    <dialog
      ref={dialog}
      class="lightbox"
      aria-label={picture?.alt}
      onClose={() => {
        enlarged.value = undefined;
      }}
      onKeyDown={({ key }) => {
        if (key === "ArrowRight") step(1);
        if (key === "ArrowLeft") step(-1);
      }}
    >
      {picture === undefined ? null : <img src={picture.src} alt={picture.alt} />}
      <p>{picture?.alt}</p>
      <div class="actions">
        {(shown?.pictures.length ?? 0) < 2 ? null : (
          <>
            <Button onPress={() => step(-1)}>Previous</Button>
            <Button onPress={() => step(1)}>Next</Button>
          </>
        )}
        <Button onPress={() => dialog.current?.close()}>Close</Button>
      </div>
    </dialog>
  );
}

interface ThumbnailProps {
  /** Paths of the emulator: the small picture, and the one in full. */
  readonly small: string;
  readonly full?: string;
  readonly alt: string;
}

/** A small picture. A press shows it in full. */
export function Thumbnail({ small, full = small, alt }: ThumbnailProps) {
  const show = () => {
    enlarged.value = { pictures: [{ src: inWorld(full), alt }], at: 0 };
  };
  return (
    <button type="button" class="thumbnail" title="Show in full" onClick={show}>
      <img src={inWorld(small)} alt={alt} loading="lazy" />
    </button>
  );
}

/** Small pictures, each shown in full by a press. */
export function Photos({ paths, of }: { readonly paths: readonly string[]; readonly of: string }) {
  if (paths.length === 0) return null;
  const pictures = paths.map((path, position) => ({
    src: inWorld(path),
    alt: `${of}, ${position + 1} of ${paths.length}`,
  }));
  return (
    <ul class="photos">
      {pictures.map(({ src, alt }, at) => (
        <li key={src}>
          <button
            type="button"
            class="thumbnail"
            title="Show in full"
            onClick={() => {
              enlarged.value = { pictures, at };
            }}
          >
            <img src={src} alt={alt} loading="lazy" />
          </button>
        </li>
      ))}
    </ul>
  );
}

interface FormProps {
  readonly onSubmit: () => unknown;
  readonly onCancel: () => void;
  readonly children: ComponentChildren;
}

/** A form on a card. Its first field has the focus; Enter in a field submits it, Escape closes it. */
export function Form({ onSubmit, onCancel, children }: FormProps) {
  const form = useFirstField();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement) onSubmit();
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onCancel();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its fields and buttons have the focus.
    <div class="form" ref={form} onKeyDown={onKeyDown}>
      {children}
    </div>
  );
}

interface CardProps {
  /** Links to it lead to the card. */
  readonly reference?: string;
  /** What else leads to the card: the shipments of an order. */
  readonly also?: readonly string[];
  readonly label: string;
  readonly kind?: string;
  /** Is called when a link leads to the card: it shows its details. */
  readonly onVisit?: () => void;
  readonly children: ComponentChildren;
}

/** The card of a record. A link to the record brings it into view, with the focus. */
export function Card({ reference, also = [], label, kind = "", onVisit, children }: CardProps) {
  const element = useRef<HTMLElement>(null);
  const visit = visited.value;
  useEffect(() => {
    if (visit === undefined || ![reference, ...also].includes(visit.reference)) return;
    onVisit?.();
    element.current?.scrollIntoView({ block: "nearest" });
    element.current?.focus({ preventScroll: true });
  }, [visit]);
  return (
    <article ref={element} class={`card ${kind}`} tabIndex={-1} aria-label={label}>
      {children}
    </article>
  );
}

/** What a card shows only on demand. */
export function Disclosure({
  name,
  open,
  onToggle,
}: {
  readonly name: string;
  readonly open: boolean;
  readonly onToggle: () => void;
}) {
  return (
    <button type="button" class="disclosure" aria-expanded={open} onClick={onToggle}>
      <span class="arrow" aria-hidden="true">
        ▸
      </span>
      {name}
    </button>
  );
}

interface ChipsProps {
  readonly label: string;
  readonly chosen: string;
  /** The values with the number of each. The first one is "all". */
  readonly values: readonly (readonly [value: string, amount: number])[];
  readonly onChoose: (value: string) => void;
}

/** A filter: one of several values. */
export function Chips({ label, chosen, values, onChoose }: ChipsProps) {
  return (
    <fieldset class="chips">
      <legend class="hidden">{label}</legend>
      {values.map(([value, amount]) => (
        <Button key={value} kind="quiet" pressed={value === chosen} onPress={() => onChoose(value)}>
          {value} <span class="amount">{count(amount)}</span>
        </Button>
      ))}
    </fieldset>
  );
}

/** The items that came while the list was held still. */
export function Fresh({
  amount,
  noun,
  onShow,
}: {
  readonly amount: number;
  readonly noun: string;
  readonly onShow: () => void;
}) {
  if (amount === 0) return null;
  const show = () => {
    onShow();
    document.getElementById("panel")?.scrollTo({ top: 0 });
  };
  return (
    <div class="fresh">
      <Button kind="primary" onPress={show}>
        Show {plural(amount, `new ${noun}`)}
      </Button>
    </div>
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

/** Says that a link leads to a record that the page does not have. */
export function NotHere({ known, noun }: { readonly known: readonly string[]; readonly noun: string }) {
  const reference = visited.value?.reference;
  if (reference === undefined || known.includes(reference)) return null;
  return (
    <p class="reason" role="status">
      {reference} is not among the newest {noun} that the page has.
    </p>
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
