import type { Priority } from "../../endpoint/request-options.ts";
import { Fifo } from "./fifo.ts";

/** The next token is further away than this call waits. */
export class SentBack extends Error {}

/** What comes of waiting. */
interface Turn {
  readonly go: () => void;
  /** Out of the line, without a token. */
  readonly back: () => void;
}

/** How a call waits. */
export interface Joining {
  readonly priority: Priority;
  /** The call had its turn and was refused: it goes before all others of its priority. */
  readonly again: boolean;
  /** Milliseconds that the next token may be away. */
  readonly patience: number;
}

/** A call that waits. */
export interface Waiter {
  left: boolean;
  /** The endpoint's name: what it draws from may be learned while it waits. */
  readonly call: string;
  readonly priority: Priority;
  /** Milliseconds that the next token may be away. */
  readonly patience: number;
  /** Where it stands among all that wait, whatever their line: those that come again have places of their own, before all others. */
  readonly place: number;
  line: WaitQueue;
  readonly turn: Turn;
}

/** Calls that draw from the same policies wait in one line; a line that waits for one bucket does not stand in another's way. */
export interface WaitQueue {
  readonly policies: readonly string[];
  /** The least patience of those that wait. */
  patience: number;
  readonly queues: Readonly<Record<Priority, Fifo<Waiter>>>;
}

const priorities = ["high", "normal", "low"] as const;
/** Of so many grants one goes to those who wait behind, in turns: a stream of urgent calls never starves the others. */
const fairness = 8;
/** More lines than there are combinations of policies. Those that are empty are made anew when they are needed. */
const memory = 100;
/** Before every place in a line. */
const front = -Number.MAX_SAFE_INTEGER;

export const sizeOf = ({ queues }: WaitQueue): number => queues.high.size + queues.normal.size + queues.low.size;

/** A policy's name may contain a comma, but no line end: a structured field has none. */
export const keyOf = (policies: readonly string[]): string => policies.join("\n");

const all = () => true;
const byPlace = (one: Waiter, other: Waiter) => one.place - other.place;

/** All lines: whose turn it is goes by priority and by who came first, across them. */
export class WaitQueues implements Iterable<WaitQueue> {
  readonly #queues = new Map<string, WaitQueue>();
  #joined = 0;
  /** Grants that went before others. */
  #overtakes = 0;

  [Symbol.iterator](): Iterator<WaitQueue> {
    return this.#queues.values();
  }

  /** Whether anybody waits anywhere. */
  get occupied(): boolean {
    for (const line of this.#queues.values()) if (sizeOf(line) > 0) return true;
    return false;
  }

  /** The line of calls that draw from these policies. */
  of(policies: readonly string[]): WaitQueue {
    const key = keyOf(policies);
    let line = this.#queues.get(key);
    if (line === undefined) {
      if (this.#queues.size >= memory) this.#forgetEmpty();
      line = {
        policies,
        patience: Number.POSITIVE_INFINITY,
        queues: { high: new Fifo(), normal: new Fifo(), low: new Fifo() },
      };
      this.#queues.set(key, line);
    }
    return line;
  }

  #forgetEmpty(): void {
    for (const [key, line] of this.#queues) if (sizeOf(line) === 0) this.#queues.delete(key);
  }

  /** Stands at the end of a line; one that comes `again` stands before all that do not. */
  join(line: WaitQueue, call: string, turn: Turn, { priority, again, patience }: Joining): Waiter {
    this.#joined += 1;
    const place = (again ? front : 0) + this.#joined;
    const waiter: Waiter = { left: false, call, priority, patience, place, line, turn };
    line.patience = Math.min(patience, sizeOf(line) === 0 ? patience : line.patience);
    const queue = line.queues[priority];
    if (again) queue.insert(waiter, (other) => other.place < place);
    else queue.push(waiter);
    return waiter;
  }

  leave(waiter: Waiter): void {
    waiter.line.queues[waiter.priority].leave(waiter);
  }

  /** Sends all back that do not wait for a token that is so many milliseconds away. */
  sendBack(line: WaitQueue, away: number): void {
    if (away <= line.patience) return;
    const waiting = priorities.flatMap((priority) => line.queues[priority].takeOut(({ patience }) => patience < away));
    line.patience = away;
    for (const { turn } of waiting.sort(byPlace)) turn.back();
  }

  /** Has the calls of an endpoint wait in another line, as they draw from other policies than was known. */
  move(call: string, from: WaitQueue, to: WaitQueue): void {
    for (const priority of priorities) {
      const moved = from.queues[priority].takeOut((waiting) => waiting.call === call);
      if (moved.length === 0) continue;
      for (const waiter of moved) waiter.line = to;
      to.patience = Math.min(from.patience, sizeOf(to) === 0 ? from.patience : to.patience);
      for (const waiter of [...moved, ...to.queues[priority].takeOut(all)].sort(byPlace))
        to.queues[priority].push(waiter);
    }
  }

  /** Of these lines, the first of the highest priority; but for every eighth turn, which goes to the others in turns. */
  takeTurn(ready: readonly WaitQueue[]): Waiter | undefined {
    const waiting = priorities.filter((priority) => ready.some(({ queues }) => queues[priority].size > 0));
    const [first, ...behind] = waiting;
    if (first === undefined) return undefined;
    if (behind.length > 0) this.#overtakes += 1;
    const turn = behind[(this.#overtakes / fairness) % behind.length];
    return takeFirst(ready, turn ?? first);
  }
}

/** Of the lines' heads of one priority the one that came first. */
function takeFirst(lines: readonly WaitQueue[], priority: Priority): Waiter | undefined {
  let first: Fifo<Waiter> | undefined;
  for (const { queues } of lines) {
    const place = queues[priority].peek()?.place;
    if (place !== undefined && place < (first?.peek()?.place ?? Number.POSITIVE_INFINITY)) first = queues[priority];
  }
  return first?.shift();
}
