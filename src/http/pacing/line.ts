import type { Priority } from "../request-options.ts";
import { Queue } from "./queue.ts";

/** A call that waits. */
export interface Waiter {
  left: boolean;
  /** The endpoint's name: what it draws from may be learned while it waits. */
  readonly call: string;
  readonly priority: Priority;
  /** Where it stands among all that wait, whatever their line. */
  readonly place: number;
  line: Line;
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

  /** Stands at the end of a line; one that comes `again` stands before all others. */
  join(line: Line, call: string, priority: Priority, go: () => void, again: boolean): Waiter {
    this.#joined += 1;
    const waiter: Waiter = { left: false, call, priority, place: again ? -this.#joined : this.#joined, line, go };
    const queue = line.queues[priority];
    if (again) queue.unshift(waiter);
    else queue.push(waiter);
    return waiter;
  }

  leave(waiter: Waiter): void {
    waiter.line.queues[waiter.priority].leave(waiter);
  }

  /** Has the calls of an endpoint wait in another line, as they draw from other policies than was known. */
  move(call: string, from: Line, to: Line): void {
    for (const priority of priorities) {
      for (const waiter of from.queues[priority].takeOut((waiting) => waiting.call === call)) {
        waiter.line = to;
        to.queues[priority].push(waiter);
      }
    }
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
