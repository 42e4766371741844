import { readFileSync } from "node:fs";
import type { HandoverLine } from "./messages.ts";

/** The states of an order at the service, one after the other, each as in {@link HandoverLine}. */
export type Timelines = ReadonlyMap<string, readonly string[]>;

/** What the file of hand-overs shows. All counts but the first four must be 0. */
export interface Verdict {
  readonly begun: number;
  readonly done: number;
  /** Changes that a handler finished more than once: its own key, order and totals, removes the second one. */
  readonly repeated: number;
  /** Changes that are left when the handler keys on order and totals. */
  readonly effects: number;
  readonly "units not handed over": number;
  readonly "orders with a wrong last state": number;
  readonly "orders not completed": number;
  readonly "older after newer": number;
}

/** Whether the states come in the order of the timeline. A state may occur in it twice: the earliest place that fits counts. */
function inOrder(states: readonly string[], timeline: readonly string[]): boolean {
  let at = 0;
  for (const state of states) {
    const found = timeline.indexOf(state, at);
    if (found < 0) return false;
    at = found;
  }
  return true;
}

/** The units that the finished handlers received of an order, without gaps. */
function unitsOf(lines: readonly HandoverLine[]): number {
  const units = new Map<number, number>();
  for (const change of lines.flatMap(({ changes }) => changes)) {
    if (change.kind !== "shipped") continue;
    const before = units.get(change.index) ?? 0;
    if (change.from <= before) units.set(change.index, Math.max(before, change.to));
  }
  return [...units.values()].reduce((sum, one) => sum + one, 0);
}

/** Compares the hand-overs in a file with what happened at the service. `units` is the quantity of each order. */
export function verify(file: string, timelines: Timelines, units: number): Verdict {
  const lines = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as HandoverLine);
  const byOrder = Map.groupBy(lines, ({ reference }) => reference);
  const doneOf = (reference: string) => (byOrder.get(reference) ?? []).filter(({ step }) => step === "done");
  const keys = lines
    .filter(({ step }) => step === "done")
    .flatMap(({ reference, state, changes }) =>
      changes.map((change) =>
        change.kind === "shipped"
          ? `${reference} ${change.index} ${change.to}`
          : `${reference} ${change.kind} ${state}`,
      ),
    );
  const orders = [...timelines.keys()];
  const count = (holds: (reference: string) => boolean) => orders.filter(holds).length;
  return {
    begun: lines.filter(({ step }) => step === "begun").length,
    done: lines.filter(({ step }) => step === "done").length,
    repeated: keys.length - new Set(keys).size,
    effects: new Set(keys).size,
    "units not handed over": orders.reduce((sum, reference) => sum + units - unitsOf(doneOf(reference)), 0),
    "orders with a wrong last state": count(
      (reference) => doneOf(reference).at(-1)?.state !== timelines.get(reference)?.at(-1),
    ),
    "orders not completed": count(
      (reference) => !doneOf(reference).some(({ changes }) => changes.some(({ kind }) => kind === "completed")),
    ),
    "older after newer": count((reference) => {
      const begun = (byOrder.get(reference) ?? []).filter(({ step }) => step === "begun");
      return !inOrder(
        begun.map(({ state }) => state),
        timelines.get(reference) ?? [],
      );
    }),
  };
}
