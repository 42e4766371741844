import type { GatewayRequest } from "./gateway-limit.ts";
import type { TakenTokens } from "./tokens.ts";
import type { Wait } from "./wait.ts";

/** The order of calls that wait for a token: `high` comes first, `low` last. */
export type Priority = "high" | "normal" | "low";

/** What a request is sent with: its tokens, and what the other limits know of it. */
export interface Permit {
  readonly tokens: TakenTokens;
  readonly gatewayRequest: GatewayRequest;
  /** The time of its slot of the ceiling. */
  readonly slot?: number | undefined;
  /** Whether it is for a request without a token, which checks what the headers said. */
  readonly isCheck?: boolean;
}

/** Thrown to end a call's wait: the next token is further away than this call waits. It has no stack, which would take time in each turn. */
export class TokenTooFar {
  readonly policy: string;
  /** Milliseconds until the token comes. */
  readonly ms: number;

  constructor(policy: string, ms: number) {
    this.policy = policy;
    this.ms = ms;
  }
}

/** When a waiting call has its turn, and how long it waits for it. */
export interface TurnOptions {
  /** Whether the call had its turn before, and its request failed. It is served before all others of its priority. */
  readonly retried: boolean;
  /** Whether the call must be sent soon, or another call waits for it with its tokens. It is served even before those. */
  readonly urgent: boolean;
  /** The call does not wait for a token that is further away than this many milliseconds. */
  readonly maxRetryAfter: number;
}

/** A call that begins to wait, and how its wait ends. */
export interface Joining extends TurnOptions {
  /** The route of the call: the policies that it draws from can change while it waits. */
  readonly call: string;
  readonly priority: Priority;
  readonly grant: (permit: Permit) => void;
  /** Ends the wait without a token. */
  readonly reject: (error: TokenTooFar) => void;
}

/** A call that waits. */
export interface Waiter extends Joining {
  /** The place among all calls that wait, in any queue. Calls that are retried have places before all others. */
  readonly place: number;
  queue: WaitQueue;
  before: Waiter | undefined;
  behind: Waiter | undefined;
}

const priorities = ["high", "normal", "low"] as const;
/** One of this many grants goes to a lower priority, so that a stream of urgent calls never starves the others. */
const grantsPerLower = 8;
/** The number of queues from which on the empty ones are removed. They are made again when they are needed. */
const maxQueues = 100;
/** A place before every other place. */
const front = -(2 ** 52);

/**
 * The calls of one priority, in the order of their places. A linked list: thousands of calls may be aborted together, and each leaves at once.
 */
class WaiterList implements Iterable<Waiter> {
  first: Waiter | undefined;
  #last: Waiter | undefined;
  /** The last of the calls that come before the others, because they are urgent or retried. */
  #lastAhead: Waiter | undefined;
  size = 0;
  /** How many come before the others. */
  ahead = 0;

  *[Symbol.iterator](): Generator<Waiter, void, undefined> {
    for (let waiter = this.first; waiter !== undefined; ) {
      const next = waiter.behind;
      yield waiter;
      waiter = next;
    }
  }

  /** Adds a call at its place: at the end, at the front, or behind those that are retried. */
  add(waiter: Waiter): void {
    const isFirst = waiter.urgent && (this.first === undefined || waiter.place < this.first.place);
    this.#insert(waiter, waiter.place > 0 ? this.#last : isFirst ? undefined : this.#lastAhead);
  }

  /** Puts a call back that has lost its turn. */
  putBack(waiter: Waiter): void {
    this.#insert(waiter, waiter.place > 0 ? this.#lastAhead : undefined);
  }

  #insert(waiter: Waiter, before: Waiter | undefined): void {
    const behind = before === undefined ? this.first : before.behind;
    waiter.before = before;
    waiter.behind = behind;
    if (before === undefined) this.first = waiter;
    else before.behind = waiter;
    if (behind === undefined) this.#last = waiter;
    else behind.before = waiter;
    if (waiter.place < 0) {
      if (this.#lastAhead === before) this.#lastAhead = waiter;
      this.ahead += 1;
    }
    this.size += 1;
  }

  remove(waiter: Waiter): void {
    const { before, behind } = waiter;
    if (before === undefined) this.first = behind;
    else before.behind = behind;
    if (behind === undefined) this.#last = before;
    else behind.before = before;
    if (waiter.place < 0) this.ahead -= 1;
    if (this.#lastAhead === waiter) this.#lastAhead = before;
    this.size -= 1;
  }
}

/** Calls that draw from the same policies. A queue that waits for one bucket does not block another queue. */
export class WaitQueue {
  readonly policies: readonly string[];
  readonly lists: Readonly<Record<Priority, WaiterList>> = {
    high: new WaiterList(),
    normal: new WaiterList(),
    low: new WaiterList(),
  };
  /** What keeps the first of its calls from being sent, and when that was found. */
  wait: Wait | undefined;
  waitFoundAt = 0;
  /** All of its calls wait for a token that is this many milliseconds away. It may be too low: a call that has left may have set it. */
  patience = Number.POSITIVE_INFINITY;

  constructor(policies: readonly string[]) {
    this.policies = policies;
  }

  get size(): number {
    return this.lists.high.size + this.lists.normal.size + this.lists.low.size;
  }

  /** How many of its calls come before the others of their priority. */
  get ahead(): number {
    return this.lists.high.ahead + this.lists.normal.ahead + this.lists.low.ahead;
  }

  /** All calls by priority, then by place. */
  *calls(): Generator<Waiter, void, undefined> {
    for (const priority of priorities) yield* this.lists[priority];
  }

  add(waiter: Waiter): void {
    this.patience = Math.min(this.patience, waiter.maxRetryAfter);
    this.lists[waiter.priority].add(waiter);
  }

  /** Removes and returns the calls that do not wait `ms` milliseconds for a token. */
  takeImpatient(ms: number): readonly Waiter[] {
    if (ms <= this.patience) return [];
    const impatient: Waiter[] = [];
    this.patience = Number.POSITIVE_INFINITY;
    for (const waiter of this.calls()) {
      if (ms > waiter.maxRetryAfter) impatient.push(waiter);
      else this.patience = Math.min(this.patience, waiter.maxRetryAfter);
    }
    for (const waiter of impatient) this.lists[waiter.priority].remove(waiter);
    return impatient;
  }
}

/** A call that is the next to be sent, with its tokens. */
export interface Turn {
  readonly waiter: Waiter;
  readonly permit: Permit;
}

/** All queues. The next turn goes by priority and then by order of arrival, across all queues. */
export class WaitQueues implements Iterable<WaitQueue> {
  readonly #queues = new Map<string, WaitQueue>();
  /** The call whose turn it is: it has left its queue with its tokens, and waits for its slot of the ceiling. */
  turn: Turn | undefined;
  /** How many calls have ever joined at the end, behind those that are retried, and as urgent. */
  #joined = 0;
  #joinedRetried = 0;
  #joinedUrgent = 0;
  /** Grants to a call while calls of a lower priority waited. */
  #overtakes = 0;

  [Symbol.iterator](): Iterator<WaitQueue> {
    return this.#queues.values();
  }

  /** The number of calls that wait. */
  get waiting(): number {
    let waiting = 0;
    for (const queue of this.#queues.values()) waiting += queue.size;
    return waiting;
  }

  /** Whether any call waits. */
  get occupied(): boolean {
    return this.waiting > 0;
  }

  /** The number of calls that wait and draw from this policy: all, or those that come before the others. */
  waitingFor(policy: string, which: "size" | "ahead" = "size"): number {
    let waiting = 0;
    for (const queue of this.#queues.values()) if (queue.policies.includes(policy)) waiting += queue[which];
    return waiting;
  }

  /** The place of a call among those that draw from this policy, from 1: all that joined later wait behind it, unless they come before others. */
  rank({ urgent, retried, place }: Waiter, policy: string): number {
    if (urgent) return 1;
    const ahead = retried
      ? this.waitingFor(policy, "ahead") - (this.#joinedRetried - (place - front))
      : this.waitingFor(policy) - (this.#joined - place);
    return Math.max(1, ahead);
  }

  /** The queue of calls that draw from these policies. */
  of(policies: readonly string[]): WaitQueue {
    // A policy's name may contain a comma, but no line break: a structured field has none.
    const key = policies.join("\n");
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      if (this.#queues.size >= maxQueues) this.#forgetEmpty();
      queue = new WaitQueue(policies);
      this.#queues.set(key, queue);
    }
    return queue;
  }

  #forgetEmpty(): void {
    for (const [key, queue] of this.#queues) if (queue.size === 0) this.#queues.delete(key);
  }

  /** Adds a call at the end of a queue. A `retried` call comes before all others, and the latest `urgent` one before these. */
  join(queue: WaitQueue, joining: Joining): Waiter {
    const waiter: Waiter = {
      ...joining,
      place: this.#nextPlace(joining),
      queue,
      before: undefined,
      behind: undefined,
    };
    queue.add(waiter);
    return waiter;
  }

  #nextPlace({ retried, urgent }: Joining): number {
    if (urgent) return front - ++this.#joinedUrgent;
    return retried ? front + ++this.#joinedRetried : ++this.#joined;
  }

  leave(waiter: Waiter): void {
    waiter.queue.lists[waiter.priority].remove(waiter);
  }

  /** Moves the calls of a route to another queue, when they draw from other policies than was known. */
  move(call: string, from: WaitQueue, to: WaitQueue): void {
    if (from === to) return;
    const moved = [...from.calls()].filter((waiter) => waiter.call === call);
    if (moved.length === 0) return;
    const all = [...moved, ...to.calls()].sort((one, other) => one.place - other.place);
    for (const waiter of all) this.leave(waiter);
    for (const waiter of all) {
      waiter.queue = to;
      to.add(waiter);
    }
  }

  /** Takes the first call of the highest priority out of these queues. Every eighth turn goes to a lower priority. */
  takeTurn(ready: readonly WaitQueue[]): Waiter | undefined {
    const waiting = priorities.filter((priority) => ready.some(({ lists }) => lists[priority].size > 0));
    const [highest, ...lower] = waiting;
    if (highest === undefined) return undefined;
    // The look-up before an urgent call has already let the others pass.
    const isUrgent = ready.some(({ lists }) => lists[highest].first?.urgent);
    if (lower.length > 0 && !isUrgent) this.#overtakes += 1;
    const priority = (isUrgent ? undefined : lower[(this.#overtakes / grantsPerLower) % lower.length]) ?? highest;
    let first: Waiter | undefined;
    for (const { lists } of ready) {
      const next = lists[priority].first;
      if (next !== undefined && (first === undefined || next.place < first.place)) first = next;
    }
    if (first !== undefined) this.leave(first);
    return first;
  }
}
