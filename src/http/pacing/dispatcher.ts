import type { PartnerClock } from "../../util/clock.ts";
import type { Limits } from "./limits.ts";
import { Fifo } from "./queue/fifo.ts";
import { sizeOf, type Waiter, type WaitQueue } from "./queue/wait-queue.ts";
import type { PauseReason, Wait } from "./wait.ts";

/** A call that has waited for so many milliseconds reports it: a little less than the 300 that are promised, because a timer can be late. */
const moment = 290;
/** These waits usually end with a response or a reply, long before their time is over: they are reported when they have lasted. */
const endsEarly: ReadonlySet<PauseReason> = new Set(["probe", "slow-start", "fleet"]);

/** A call that waits and has not reported it. */
interface Unreported {
  left: boolean;
  readonly waiter: Waiter;
}

/** Serves the queues while there are tokens, and reports the calls that wait. */
export class Dispatcher {
  readonly #clock: PartnerClock;
  readonly #limits: Limits;
  #stopTimer: (() => void) | undefined;
  #stopReport: (() => void) | undefined;
  /** The calls that wait and have not reported it. */
  readonly #unreported = new Fifo<Unreported>();

  constructor(clock: PartnerClock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Serves the queues as far as the tokens go, then sets a timer for the next token. */
  run(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const next = this.#serve();
    if (Number.isFinite(next)) this.#stopTimer = this.#clock.after(Math.max(1, Math.ceil(next)), () => this.run());
  }

  /** Serves a call that has joined its queue. Its wait is reported, until the returned function says that it is over. */
  watch(waiter: Waiter): () => void {
    const unreported = { left: false, waiter };
    this.#unreported.push(unreported);
    // An occupied queue already has a timer for its next turn.
    if (sizeOf(waiter.queue) === 1) this.run();
    const wait = this.waitOf(waiter.queue);
    if (wait !== undefined && !endsEarly.has(wait.reason)) {
      const ms = this.#expect(waiter, wait, 0);
      if (ms > moment) this.#report(unreported, { ...wait, ms });
    }
    if (this.#stopReport === undefined) this.#reportDue();
    return () => {
      this.#unreported.leave(unreported);
      if (this.#unreported.size === 0) this.#endReports();
    };
  }

  #endReports(): void {
    this.#stopReport?.();
    this.#stopReport = undefined;
  }

  /** What keeps the first call of a queue from being sent, by the latest look at it. */
  waitOf(queue: WaitQueue): Wait | undefined {
    const { ceiling } = this.#limits;
    if (ceiling?.occupied) return { ms: ceiling.until(0), reason: "ceiling", policy: "default" };
    const { wait, waitFound } = queue;
    return wait && { ...wait, ms: Math.max(0, waitFound + wait.ms - this.#clock.now()) };
  }

  /** Serves the queues as far as the tokens go. Returns the milliseconds until the next turn. */
  #serve(): number {
    const { queues, gatewayLimit, ceiling } = this.#limits;
    // The request that waits for its slot runs the dispatcher again.
    while (queues.occupied && ceiling?.occupied !== true) {
      const closed = gatewayLimit.wait(this.#clock.now());
      if (closed !== undefined) {
        for (const queue of queues) this.#note(queue, closed);
        return closed.ms;
      }
      const { ready, next } = this.#scan();
      const waiter = queues.takeTurn(ready);
      if (waiter === undefined) return next;
      waiter.turn.grant();
    }
    return Number.POSITIVE_INFINITY;
  }

  #note(queue: WaitQueue, wait: Wait | undefined): void {
    queue.wait = wait;
    queue.waitFound = this.#clock.now();
  }

  /** Finds the queues that have tokens, and the shortest wait of the others. */
  #scan(): { readonly ready: readonly WaitQueue[]; readonly next: number } {
    const { tokens, queues } = this.#limits;
    let next = Number.POSITIVE_INFINITY;
    const ready: WaitQueue[] = [];
    for (const queue of queues) {
      const wanted = sizeOf(queue);
      if (wanted === 0) continue;
      const wait = tokens.wait(queue.policies, wanted);
      this.#note(queue, wait);
      if (wait === undefined) {
        ready.push(queue);
        continue;
      }
      queues.rejectImpatient(queue, Math.max(...queue.policies.map((policy) => tokens.away(policy))));
      // A queue that is empty now needs no timer.
      if (sizeOf(queue) > 0) next = Math.min(next, wait.ms);
    }
    return { ready, next };
  }

  /**
   * Reports the calls that have waited for a moment, then sets a timer for the next one. It serves no call: how many requests are in flight
   * must not depend on who looks.
   */
  #reportDue(): void {
    this.#endReports();
    for (let first = this.#unreported.peek(); first !== undefined; first = this.#unreported.peek()) {
      const { waiter } = first;
      const left = Math.floor(waiter.since + moment - this.#clock.now());
      const wait = this.waitOf(waiter.queue);
      // Nothing keeps a queue whose turn it is just now.
      if (left > 0 || wait === undefined) {
        this.#endReports();
        this.#stopReport = this.#clock.after(Math.max(1, left), () => this.#reportDue());
        return;
      }
      // All calls before this one have reported, and no call behind it.
      const behind = this.#unreported.size - 1;
      this.#report(first, { ...wait, ms: this.#expect(waiter, wait, behind) });
    }
  }

  #report(unreported: Unreported, wait: Wait): void {
    if (unreported.left) return;
    this.#unreported.leave(unreported);
    unreported.waiter.report(wait);
  }

  /** Milliseconds until a call may be sent, with this many calls behind it: at least as long as the tokens of all before it take. */
  #expect({ queue }: Waiter, { ms }: Wait, behind: number): number {
    const { tokens, gatewayLimit, ceiling, queues } = this.#limits;
    const place = (policy: string) => Math.max(1, queues.waitingFor(policy) - behind);
    const all = place("default");
    const known = [Number.isFinite(ms) ? ms : 0, all * gatewayLimit.interval, ceiling?.until(all) ?? 0];
    return Math.max(...known, ...queue.policies.map((policy) => tokens.until(policy, place(policy))));
  }
}
