import type { PartnerClock } from "../../util/clock.ts";
import { probePeriod } from "./bucket.ts";
import type { Ceiling } from "./ceiling.ts";
import type { GatewayLimit } from "./gateway-limit.ts";
import type { Waiter, WaitQueue, WaitQueues } from "./queue.ts";
import type { TokenSource } from "./tokens.ts";
import { longer, type PauseReason, type Wait } from "./wait.ts";

/** A call that has waited for so many milliseconds reports it: a little less than the 300 that are promised, because a timer can be late. */
const reportedAfter = 290;
/** These waits usually end with a response or a reply, long before their time is over: they are reported when they have lasted. */
const endsEarly: ReadonlySet<PauseReason> = new Set(["probe", "slow-start", "fleet"]);

/** The state of one policy. */
export interface RateLimit {
  /** Tokens that the full bucket holds. */
  readonly quota: number;
  /** Milliseconds in which the bucket refills from empty. */
  readonly window: number;
  /** Tokens in the bucket, as far as this process knows. */
  readonly remaining: number;
  /** Milliseconds until the next call may go; 0 when one may go now. */
  readonly nextTokenIn: number;
  /** Calls of this client that are waiting for a token. */
  readonly waiting: number;
  /** What the first of them waits for; undefined when none waits. */
  readonly reason: PauseReason | undefined;
}

/** The rate limits as this process knows them. */
export interface RateLimits {
  /**
   * Each policy by its name. The service chooses the names: the record has no prototype, so that `constructor` and `__proto__` are
   * names like any other.
   */
  readonly policies: Readonly<Record<string, RateLimit>>;
  /**
   * Milliseconds until `calls` more calls have their tokens, behind all calls that wait already, at the rate of this process now.
   * This is an estimate: other processes can start and stop.
   *
   * @param policy A policy that the calls draw from beside `default`, for example `uploads`. Default: none.
   * @example
   * if (partner.rateLimits.estimate(items.length) > 60_000) console.log("This takes more than a minute.");
   */
  readonly estimate: (calls: number, policy?: string) => number;
}

/** Milliseconds until the turn of the n-th call, as far as the first call's wait says: while no response comes, the number of probes doubles. */
function untilTurn({ ms, reason }: Wait, rank: number): number {
  const probing = reason === "probe" ? probePeriod * Math.floor(Math.log2(rank)) : 0;
  return Number.isFinite(ms) ? Math.max(1, ms) + probing : 0;
}

/** What decides how long calls wait. */
export interface PacingState {
  readonly clock: PartnerClock;
  readonly tokens: TokenSource;
  readonly queues: WaitQueues;
  readonly gatewayLimit: GatewayLimit;
  readonly ceiling: Ceiling | undefined;
  /** Whether calls wait for their turn. */
  readonly paced: boolean;
}

/** Explains why calls wait, and for how long. It serves none: how many requests are in flight must not depend on who asks. */
export class Forecast {
  readonly #state: PacingState;

  constructor(state: PacingState) {
    this.#state = state;
  }

  /** What keeps the first of so many calls from its tokens now: the limit that keeps it the longest. */
  wait(policies: readonly string[], calls: number, now = this.#state.clock.now()): Wait | undefined {
    const { gatewayLimit, tokens } = this.#state;
    return longer(gatewayLimit.wait(now), tokens.wait(policies, now, calls));
  }

  /** What keeps the first call, which has its tokens, from being sent. */
  #untilOpen(): Wait | undefined {
    const { ceiling, queues } = this.#state;
    return queues.first && (ceiling?.wait(queues.waiting + 1) ?? { ms: 0, reason: "ceiling", policy: "default" });
  }

  /** What keeps the first call of a queue from being sent, by the latest look at it, or now while another call waits for its slot. */
  #waitOf({ policies, size, wait, waitFound }: WaitQueue): Wait | undefined {
    const open = this.#untilOpen();
    if (open !== undefined) return longer(open, size > 0 ? this.wait(policies, size) : undefined);
    return wait && { ...wait, ms: Math.max(0, waitFound + wait.ms - this.#state.clock.now()) };
  }

  /**
   * Reports once why a call waits: at once when it is known that it waits for longer than a moment, or else when it has done so. Returns a
   * function that says that the wait is over.
   */
  report(waiter: Waiter, report: (wait: Wait) => void): () => void {
    const waitNow = () =>
      this.#state.queues.first?.waiter === waiter ? this.#untilOpen() : this.#waitOf(waiter.queue);
    const wait = waitNow();
    if (wait !== undefined && !endsEarly.has(wait.reason)) {
      const ms = this.#expect(waiter, wait);
      if (ms > reportedAfter) {
        report({ ...wait, ms });
        return () => undefined;
      }
    }
    let stop: () => void = () => undefined;
    const reportNow = () => {
      const present = waitNow();
      // Nothing keeps a queue whose turn it is just now.
      if (present === undefined) stop = this.#state.clock.after(1, reportNow);
      else report({ ...present, ms: this.#expect(waiter, present) });
    };
    stop = this.#state.clock.after(reportedAfter, reportNow);
    return () => stop();
  }

  /** Whole milliseconds until a call may be sent: at least as long as the tokens of all calls before it take. */
  #expect(waiter: Waiter, wait: Wait): number {
    if (this.#state.queues.first?.waiter === waiter) return Math.ceil(untilTurn(wait, 1));
    const rank = (policy: string) => this.#state.queues.rank(waiter, policy);
    const known = waiter.queue.policies.map((policy) => this.#state.tokens.until(policy, rank(policy)));
    return Math.ceil(Math.max(untilTurn(wait, rank("default")), this.#untilSent(rank("default")), ...known));
  }

  /** Milliseconds until this number of requests may be sent, by the limits that are no bucket of the service. */
  #untilSent(requests: number): number {
    const next = this.#state.gatewayLimit.wait(this.#state.clock.now())?.ms ?? 0;
    return Math.max(next + (requests - 1) * this.#state.gatewayLimit.interval, this.#untilSlot(requests));
  }

  /** Milliseconds until this number of requests has its slots of the ceiling, behind the one that waits for its slot. */
  #untilSlot(requests: number): number {
    return this.#state.ceiling?.until(requests + (this.#state.queues.first === undefined ? 0 : 1)) ?? 0;
  }

  /** The rate limits as this process knows them now. */
  rateLimits(): RateLimits {
    const policies: Record<string, RateLimit> = Object.create(null);
    for (const policy of this.#state.tokens.names()) policies[policy] = this.#stateOf(policy);
    return {
      policies,
      // Every call draws from `default`, too (specification 8).
      estimate: (calls, policy = "default") =>
        Math.max(this.#estimate(calls, policy), this.#estimate(calls, "default")),
    };
  }

  #estimate(calls: number, policy: string): number {
    const all = this.#state.queues.waitingFor(policy) + calls;
    const ms = this.#state.tokens.until(policy, all);
    if (all < 1 || !this.#state.paced) return ms;
    return Math.max(ms, this.#untilSent(all), this.#stateOf(policy, all).nextTokenIn);
  }

  /**
   * No token is free while calls wait for one, whatever keeps them from withRequestOptions it.
   *
   * @param rank The call for which `nextTokenIn` is: the first one, or a later one as far as the first one's wait says.
   */
  #stateOf(policy: string, rank = 1): RateLimit {
    const level = this.#state.tokens.level(policy);
    if (!this.#state.paced) return { ...level, nextTokenIn: 0, waiting: 0, reason: undefined };
    let waiting = 0;
    let longest: Wait | undefined;
    const gateway = this.#state.gatewayLimit.wait(this.#state.clock.now())?.ms ?? 0;
    let nextTokenIn = Math.max(level.nextTokenIn, gateway, this.#state.ceiling?.until(1) ?? 0);
    for (const { wait, calls } of this.#waits()) {
      if (wait.policy !== policy) continue;
      waiting += calls;
      longest = longer(longest, wait);
      nextTokenIn = Math.max(nextTokenIn, 1, untilTurn(wait, rank));
    }
    const remaining = waiting > 0 ? 0 : level.remaining;
    return { ...level, remaining, nextTokenIn, waiting, reason: longest?.reason };
  }

  /** What the calls wait for that wait now, and how many they are. */
  *#waits(): Generator<{ readonly wait: Wait; readonly calls: number }> {
    const open = this.#untilOpen();
    if (open !== undefined) yield { wait: open, calls: 1 };
    for (const queue of this.#state.queues) {
      const wait = queue.size > 0 ? this.#waitOf(queue) : undefined;
      if (wait !== undefined) yield { wait, calls: queue.size };
    }
  }
}
