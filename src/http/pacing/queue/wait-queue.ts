import type { Priority } from "../../request-options.ts";
import type { Wait } from "../wait.ts";
import { Fifo } from "./fifo.ts";

/** Ends a call's wait in the queue: the next token is further away than this call waits. */
export class TokenTooFar extends Error {}

/** How a wait ends. */
interface Turn {
  readonly grant: () => void;
  /** Ends the wait without a token. */
  readonly reject: () => void;
}

/** How a call waits. */
export interface Joining {
  readonly priority: Priority;
  /** The call had its turn and its request was refused: it is served before all others of its priority. */
  readonly again: boolean;
  /** Milliseconds that the next token may be away. */
  readonly patience: number;
  /** When it begins to wait. */
  readonly since: number;
  /** Called once when it waits for longer than a moment, with the reason. */
  readonly report: (wait: Wait) => void;
}

/** A call that waits. */
export interface Waiter extends Omit<Joining, "again"> {
  left: boolean;
  /** The endpoint's name: the policies that it draws from can change while it waits. */
  readonly call: string;
  /** The place among all calls that wait, in any queue. Calls that wait again have places before all others. */
  readonly place: number;
  queue: WaitQueue;
  readonly turn: Turn;
}

/** Calls that draw from the same policies wait in one queue. A queue that waits for one bucket does not block another queue. */
export interface WaitQueue {
  readonly policies: readonly string[];
  /** The least patience of the calls that wait. */
  patience: number;
  /** What keeps the first of its calls from being sent, and when that was found. */
  wait: Wait | undefined;
  waitFound: number;
  readonly calls: Readonly<Record<Priority, Fifo<Waiter>>>;
}

const priorities = ["high", "normal", "low"] as const;
/** One of this many grants goes to a lower priority, so that a stream of urgent calls never starves the others. */
const fairness = 8;
/** The number of queues from which on the empty ones are removed. They are made again when they are needed. */
const memory = 100;
/** A place before every other place. */
const front = -Number.MAX_SAFE_INTEGER;

export const sizeOf = ({ calls }: WaitQueue): number => calls.high.size + calls.normal.size + calls.low.size;

/** A policy's name may contain a comma, but no line break: a structured field has none. */
export const keyOf = (policies: readonly string[]): string => policies.join("\n");

const all = () => true;
const byPlace = (one: Waiter, other: Waiter) => one.place - other.place;

/** All queues. The next turn goes by priority and then by order of arrival, across all queues. */
export class WaitQueues implements Iterable<WaitQueue> {
  readonly #queues = new Map<string, WaitQueue>();
  #joined = 0;
  /** Grants to a call while calls of a lower priority waited. */
  #overtakes = 0;

  [Symbol.iterator](): Iterator<WaitQueue> {
    return this.#queues.values();
  }

  /** Whether any call waits. */
  get occupied(): boolean {
    for (const queue of this.#queues.values()) if (sizeOf(queue) > 0) return true;
    return false;
  }

  /** The number of calls that wait and draw from this policy. */
  waitingFor(policy: string): number {
    let waiting = 0;
    for (const queue of this.#queues.values()) if (queue.policies.includes(policy)) waiting += sizeOf(queue);
    return waiting;
  }

  /** The queue of calls that draw from these policies. */
  of(policies: readonly string[]): WaitQueue {
    const key = keyOf(policies);
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      if (this.#queues.size >= memory) this.#forgetEmpty();
      queue = {
        policies,
        patience: Number.POSITIVE_INFINITY,
        wait: undefined,
        waitFound: 0,
        calls: { high: new Fifo(), normal: new Fifo(), low: new Fifo() },
      };
      this.#queues.set(key, queue);
    }
    return queue;
  }

  #forgetEmpty(): void {
    for (const [key, queue] of this.#queues) if (sizeOf(queue) === 0) this.#queues.delete(key);
  }

  /** Adds a call at the end of a queue; a call that waits `again` comes before all others. */
  join(queue: WaitQueue, call: string, turn: Turn, { again, ...joining }: Joining): Waiter {
    this.#joined += 1;
    const place = (again ? front : 0) + this.#joined;
    const waiter: Waiter = { ...joining, left: false, call, place, queue, turn };
    const { priority, patience } = joining;
    queue.patience = Math.min(patience, sizeOf(queue) === 0 ? patience : queue.patience);
    const calls = queue.calls[priority];
    if (again) calls.insert(waiter, (other) => other.place < place);
    else calls.push(waiter);
    return waiter;
  }

  leave(waiter: Waiter): void {
    waiter.queue.calls[waiter.priority].leave(waiter);
  }

  /** Rejects all calls that do not wait for a token that is `away` milliseconds away. */
  rejectImpatient(queue: WaitQueue, away: number): void {
    if (away <= queue.patience) return;
    const waiting = priorities.flatMap((priority) => queue.calls[priority].takeOut(({ patience }) => patience < away));
    queue.patience = away;
    for (const { turn } of waiting.sort(byPlace)) turn.reject();
  }

  /** Moves the calls of an endpoint to another queue, when they draw from other policies than was known. */
  move(call: string, from: WaitQueue, to: WaitQueue): void {
    for (const priority of priorities) {
      const moved = from.calls[priority].takeOut((waiting) => waiting.call === call);
      if (moved.length === 0) continue;
      for (const waiter of moved) waiter.queue = to;
      to.patience = Math.min(from.patience, sizeOf(to) === 0 ? from.patience : to.patience);
      for (const waiter of [...moved, ...to.calls[priority].takeOut(all)].sort(byPlace))
        to.calls[priority].push(waiter);
    }
  }

  /** Takes the first call of the highest priority out of these queues. Every eighth turn goes to a lower priority. */
  takeTurn(ready: readonly WaitQueue[]): Waiter | undefined {
    const waiting = priorities.filter((priority) => ready.some(({ calls }) => calls[priority].size > 0));
    const [first, ...behind] = waiting;
    if (first === undefined) return undefined;
    if (behind.length > 0) this.#overtakes += 1;
    const turn = behind[(this.#overtakes / fairness) % behind.length];
    return takeFirst(ready, turn ?? first);
  }
}

/** Takes the call of one priority that came first out of these queues. */
function takeFirst(queues: readonly WaitQueue[], priority: Priority): Waiter | undefined {
  let first: Fifo<Waiter> | undefined;
  for (const { calls } of queues) {
    const place = calls[priority].peek()?.place;
    if (place !== undefined && place < (first?.peek()?.place ?? Number.POSITIVE_INFINITY)) first = calls[priority];
  }
  return first?.shift();
}
