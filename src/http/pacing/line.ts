import type { Priority } from "../request-options.ts";
import { Queue } from "./queue.ts";

export interface Waiter {
  left: boolean;
  /** Where it stands among all that wait, whatever their line. */
  readonly place: number;
  readonly go: () => void;
}

/** Calls that draw from the same policies wait in one line; a line that waits for one bucket does not stand in another's way. */
export interface Line {
  readonly policies: readonly string[];
  readonly queues: Readonly<Record<Priority, Queue<Waiter>>>;
}

const priorities = ["high", "normal", "low"] as const;
/** Of so many grants one goes to whoever waits behind: a stream of urgent calls never starves the others. */
const fairness = 8;

export const sizeOf = ({ queues }: Line): number => queues.high.size + queues.normal.size + queues.low.size;

/** All lines: whose turn it is goes by priority and by who came first, across them. */
export class Lines implements Iterable<Line> {
  readonly #lines = new Map<string, Line>();
  #joined = 0;
  /** Grants since a lower priority last had its turn. */
  #overtakes = 0;

  [Symbol.iterator](): Iterator<Line> {
    return this.#lines.values();
  }

  /** Whether anybody waits anywhere. */
  get occupied(): boolean {
    for (const line of this.#lines.values()) if (sizeOf(line) > 0) return true;
    return false;
  }

  /** The line of calls that draw from these policies. */
  of(policies: readonly string[]): Line {
    const key = policies.join();
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = { policies, queues: { high: new Queue(), normal: new Queue(), low: new Queue() } };
      this.#lines.set(key, line);
    }
    return line;
  }

  /** Stands at the end of a line; one that comes again stands before all others. Gives how to leave. */
  join(line: Line, priority: Priority, go: () => void, again: boolean): () => void {
    this.#joined += 1;
    const queue = line.queues[priority];
    const waiter: Waiter = { left: false, place: again ? -this.#joined : this.#joined, go };
    if (again) queue.unshift(waiter);
    else queue.push(waiter);
    return () => queue.leave(waiter);
  }

  /** Of these lines, the first of the highest priority; but for every eighth turn, which goes to the lowest that waits. */
  takeTurn(ready: readonly Line[]): Waiter | undefined {
    const waiting = priorities.filter((priority) => ready.some(({ queues }) => queues[priority].size > 0));
    const [first, last] = [waiting[0], waiting.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    if (first !== last) this.#overtakes = (this.#overtakes + 1) % fairness;
    return takeFirst(ready, first !== last && this.#overtakes === 0 ? last : first);
  }
}

/** Of the lines' heads of one priority the one that came first. */
function takeFirst(lines: readonly Line[], priority: Priority): Waiter | undefined {
  let first: Queue<Waiter> | undefined;
  for (const { queues } of lines) {
    const place = queues[priority].peek()?.place;
    if (place !== undefined && place < (first?.peek()?.place ?? Number.POSITIVE_INFINITY)) first = queues[priority];
  }
  return first?.shift();
}
