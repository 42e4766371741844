import { shorten } from "../../errors/base.ts";
import { attempt, propertyOf, textOf, wordsOf } from "../../util/foreign.ts";
import { inOneLine } from "../../util/visible.ts";
import type { SimulatedStep } from "./error.ts";
import { callOf } from "./platform.ts";

/** A step whose result is not known yet. */
export type Step = { -readonly [Field in keyof SimulatedStep]: SimulatedStep[Field] };

/** Who does something: a life of a program. */
type Who = Pick<SimulatedStep, "program" | "life">;

/** The result of a call that prepares another one, as that of a statement does. */
export const prepared = "prepared";

/** A value of a program, in a few words: a number of rows where it has many. */
export function shown(value: unknown, most = 60): string {
  if (value === undefined || value === null) return "nothing";
  const rows = propertyOf(value, "rows");
  if (Array.isArray(rows)) {
    const changed = propertyOf(value, "affectedRows") ?? propertyOf(value, "rowCount");
    return rows.length === 0 && typeof changed === "number" ? `${changed} changed` : shown(rows, most);
  }
  const changes = propertyOf(value, "changes");
  if (typeof changes === "number") return `${changes} changed`;
  const text = attempt(() => JSON.stringify(value)) ?? String(typeof value);
  if (Array.isArray(value) && (text.length > most || value.length === 0))
    return value.length === 1 ? "1 row" : `${value.length || "no"} rows`;
  return inOneLine(typeof value === "string" ? shorten(value, most) : shorten(text, most));
}

/** An error, as a program sees it: its class, its code and the beginning of its message, without the endpoint and the code. */
export function failureText(error: unknown): string {
  const code = textOf(error, "code");
  const name = `${textOf(error, "name") ?? "Error"}${code === undefined ? "" : ` (${code})`}`;
  const [line = ""] = wordsOf(error).split("\n");
  return `${name}: ${inOneLine(shorten(line.replace(/^[A-Z]+ \S+ returned \d+ \w+: /, ""), 160))}`;
}

/** What the programs did in a run, in its order. */
export class Trace {
  readonly steps: Step[] = [];
  readonly #now: () => number;
  /** The calls of clients in this run, with their numbers. */
  readonly #calls = new Map<unknown, number>();

  /** @param now returns the milliseconds since the start of the run. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Adds a step of the life, inside of the client's call that has made it. */
  add({ program, life }: Who, step: Pick<Step, "kind" | "text"> & Partial<Step>): Step {
    const added: Step = {
      at: this.#now(),
      program,
      life,
      point: undefined,
      call: this.#calls.get(callOf()),
      events: [],
      result: undefined,
      ...step,
    };
    this.steps.push(added);
    return added;
  }

  /** A call of a client begins. */
  call(who: Who, call: unknown, text: string): void {
    this.#calls.set(call, this.#calls.size + 1);
    this.add(who, { kind: "call", call: this.#calls.size, text });
  }

  /** Says what came of a step: in its line, or in one of its own if the life did something else in the meantime. */
  end(step: Step, result: string, text = `the result of ${step.text}`): void {
    const last = this.steps.findLast(
      ({ program, life, kind }) => program === step.program && life === step.life && kind !== "storage",
    );
    const isAlone = last === step && step.kind !== "callback";
    if (isAlone || step.kind === "storage" || step.life === 0) step.result = result;
    else this.steps.push({ ...step, at: this.#now(), text, events: [], result: result === "done" ? "ok" : result });
  }
}
