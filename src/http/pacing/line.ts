import type { Priority } from "../request-options.ts";
import { Queue } from "./queue.ts";

export interface Waiter {
  left: boolean;
  readonly go: () => void;
}

/** Calls that draw from the same policies wait in one line; a line that waits for one bucket does not stand in another's way. */
export interface Line {
  readonly policies: readonly string[];
  readonly queues: Readonly<Record<Priority, Queue<Waiter>>>;
  /** Grants since a lower priority last had its turn. */
  overtakes: number;
}

const priorities = ["high", "normal", "low"] as const;
/** Of so many grants one goes to whoever waits behind: a stream of urgent calls never starves the others. */
const fairness = 8;

export const createLine = (policies: readonly string[]): Line => ({
  policies,
  queues: { high: new Queue(), normal: new Queue(), low: new Queue() },
  overtakes: 0,
});

export const sizeOf = ({ queues }: Line): number => queues.high.size + queues.normal.size + queues.low.size;

/** The head of the highest priority, but for every eighth turn, which goes to the lowest that waits. */
export function takeTurn(line: Line): Waiter | undefined {
  const waiting = priorities.filter((priority) => line.queues[priority].size > 0);
  const [first, last] = [waiting[0], waiting.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  if (first === last) return line.queues[first].shift();
  line.overtakes = (line.overtakes + 1) % fairness;
  return line.queues[line.overtakes === 0 ? last : first].shift();
}
