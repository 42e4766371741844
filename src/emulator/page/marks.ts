import type { Change } from "../state/emulation.ts";
import type { MarkView } from "./view.ts";

/** The most marks that are kept. */
const kept = 100;
/** The most characters of a mark's text, and the most references. */
const maxLength = 120;
const maxReferences = 4;

const anyReference = /\b[A-Z][a-z]+_[0-9a-z]{26}\b/gi;

const referencesIn = (value: unknown): readonly string[] =>
  [...new Set((JSON.stringify(value) ?? "").match(anyReference))].slice(0, maxReferences);

/** The plain values of an input, with their names: `reason The colour is missing`. References have a place of their own. */
function plainValues(value: unknown, name: string): readonly string[] {
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([field, inner]) => plainValues(inner, Array.isArray(value) ? name : field));
  }
  if (value === undefined || value === null || name === "secretKey" || referencesIn(value).length > 0) return [];
  return [`${name} ${String(value)}`];
}

/** What a seed adds: `orders 2, claims 1`. */
const amounts = (input: unknown): string =>
  Object.entries(input as object)
    .map(([list, records]) => `${list} ${Array.isArray(records) ? records.length : String(records)}`)
    .join(", ");

const shortened = (text: string): string => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);

/** What happened beside the requests: controls, steps of the automation and callbacks, for the timeline of the page. */
export class Marks {
  /** The name of a control, if it changes something. */
  readonly #nameOf: (control: object) => string | undefined;
  #marks: MarkView[] = [];
  #latest = 0;

  constructor(nameOf: (control: object) => string | undefined) {
    this.#nameOf = nameOf;
  }

  /** The latest marks, oldest first. */
  get list(): readonly MarkView[] {
    return this.#marks;
  }

  clear(): void {
    this.#marks = [];
  }

  /** Notes a change at a time of the emulator's clock, after the request with a number. */
  note(change: Exclude<Change, "cleared">, time: number, after: number): void {
    if ("callback" in change) {
      const { orderReference, status, tried, tries } = change.callback;
      const latest = tries.at(-1);
      if (latest === undefined) return;
      const outcome = latest.status ?? latest.error ?? "no response";
      const text = shortened(`${outcome}, ${tried === 1 ? "first try" : `try ${tried}`}`);
      // A week has 2,016 tries of one callback: the latest stands for those before it.
      this.#marks = this.#marks.filter(
        ({ name, references: [order] }) => name !== "callback" || order !== orderReference,
      );
      this.#add({ name: "callback", text, references: [orderReference], failed: status === "waiting", time, after });
      return;
    }
    const name = this.#nameOf(change.control);
    if (name === undefined) return;
    if (name === "load") {
      this.#add({ name, text: "a saved world", references: [], failed: false, time, after });
      return;
    }
    const text = shortened(name === "seed" ? amounts(change.input) : plainValues(change.input, "").join(", "));
    const references = referencesIn([change.input, change.result]);
    this.#add({ name, text, references, failed: false, time, after });
  }

  #add(mark: Omit<MarkView, "id">): void {
    this.#latest += 1;
    this.#marks = [...this.#marks.slice(1 - kept), { id: this.#latest, ...mark }];
  }
}
