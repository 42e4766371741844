import { RequestValidationError } from "../../errors/validation.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { probePeriod } from "./bucket.ts";
import type { Ceiling } from "./ceiling.ts";
import type { GatewayLimit } from "./gateway-limit.ts";
import type { Waiter, WaitQueue, WaitQueues } from "./queue.ts";
import type { Buckets, TokenSource } from "./tokens.ts";
import { longer, type PauseReason, type Wait } from "./wait.ts";

/** A wait of this many milliseconds is reported: a little less than the 300 that are promised, because a timer can be late. */
const reportedAfter = 290;
/** A response or a reply usually ends these waits early, so they are reported only when they have lasted. */
const endsEarly: ReadonlySet<PauseReason> = new Set(["probe", "slow-start", "fleet"]);

/** The state of one policy. */
export interface RateLimit {
  /** Tokens that the full bucket holds. */
  readonly quota: number;
  /** Milliseconds in which the bucket refills from empty. */
  readonly window: number;
  /** Tokens in the bucket, as far as this process knows. */
  readonly remaining: number;
  /** Milliseconds until the next call may be sent; 0 when one may be sent now. */
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
   * Other processes can start and stop.
   *
   * @param policy A policy that the calls draw from beside `default`, for example `uploads`. Default: none.
   * @throws `RequestValidationError` if `calls` is not a finite number.
   * @example
   * if (partner.rateLimits.estimate(items.length) > 60_000) console.log("This takes more than a minute.");
   */
  readonly estimate: (calls: number, policy?: string) => number;
}

/** Milliseconds until the turn of the n-th call, given the wait of the first: while no response comes, the number of probes doubles. */
function untilTurn({ ms, reason }: Wait, rank: number): number {
  const probing = reason === "probe" ? probePeriod * Math.floor(Math.log2(rank)) : 0;
  return Number.isFinite(ms) ? Math.max(1, ms) + probing : 0;
}

/** A pause of all calls. */
export interface Pause {
  /** The clock's time. */
  readonly until: number;
}

/** What decides how long calls wait. */
export interface PacingState {
  readonly clock: PartnerClock;
  readonly buckets: Buckets;
  readonly tokens: TokenSource;
  readonly queues: WaitQueues;
  readonly gatewayLimit: GatewayLimit;
  readonly ceiling: Ceiling | undefined;
  /** The pauses by 429s whose bodies are still arriving. */
  readonly unread: ReadonlySet<Pause>;
  /** Whether calls wait for their turn. */
  readonly paced: boolean;
}

/** Explains why calls wait, and for how long. It never serves a queue: asking must not change what is sent. */
export class Forecast {
  readonly #state: PacingState;

  constructor(state: PacingState) {
    this.#state = state;
  }

  /** What keeps the first of `calls` calls from its tokens now: the limit with the longest wait. */
  wait(policies: readonly string[], calls: number, now = this.#state.clock.now()): Wait | undefined {
    const { gatewayLimit, tokens } = this.#state;
    return longer(longer(gatewayLimit.wait(now), tokens.wait(policies, now, calls)), this.unread(now));
  }

  /** What keeps all calls from being sent while the body of a 429 arrives. */
  unread(now: number): Wait | undefined {
    let ms = 0;
    for (const { until } of this.#state.unread) ms = Math.max(ms, until - now);
    return ms > 0 ? { ms, reason: "rate-limited", policy: "default" } : undefined;
  }

  /** What keeps the first call, which has its tokens, from being sent. */
  #untilOpen(): Wait | undefined {
    const { ceiling, queues } = this.#state;
    return queues.turn && (ceiling?.wait(queues.waiting + 1) ?? { ms: 0, reason: "ceiling", policy: "default" });
  }

  /** What keeps the first call of a queue from being sent: as last found, or now while another call waits for its slot. */
  #waitOf({ policies, size, wait, waitFoundAt }: WaitQueue): Wait | undefined {
    const open = this.#untilOpen();
    if (open !== undefined) return longer(open, size > 0 ? this.wait(policies, size) : undefined);
    return wait && { ...wait, ms: Math.max(0, waitFoundAt + wait.ms - this.#state.clock.now()) };
  }

  /**
   * Reports once why a call waits: at once if the wait is known to be long, or else when it has been. Call the returned function when the wait
   * is over.
   */
  report(waiter: Waiter, report: (wait: Wait) => void): () => void {
    const waitNow = () => (this.#state.queues.turn?.waiter === waiter ? this.#untilOpen() : this.#waitOf(waiter.queue));
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
      // It is the queue's turn just now.
      if (present === undefined) stop = this.#state.clock.after(1, reportNow);
      else report({ ...present, ms: this.#expect(waiter, present) });
    };
    stop = this.#state.clock.after(reportedAfter, reportNow);
    return () => stop();
  }

  /** Whole milliseconds until a call may be sent: at least as long as the tokens of all calls before it take. */
  #expect(waiter: Waiter, wait: Wait): number {
    if (this.#state.queues.turn?.waiter === waiter) return Math.ceil(untilTurn(wait, 1));
    const rank = (policy: string) => this.#state.queues.rank(waiter, policy);
    const known = waiter.queue.policies.map((policy) => this.#state.tokens.until(policy, rank(policy)));
    return Math.ceil(Math.max(untilTurn(wait, rank("default")), this.#untilSent(rank("default")), ...known));
  }

  /** Milliseconds until this number of requests may be sent, by the limits other than the service's buckets. */
  #untilSent(requests: number): number {
    const next = this.#state.gatewayLimit.wait(this.#state.clock.now())?.ms ?? 0;
    return Math.max(next + (requests - 1) * this.#state.gatewayLimit.interval, this.#untilSlot(requests));
  }

  /** Milliseconds until this number of requests has its slots of the ceiling, behind the one that waits for its slot. */
  #untilSlot(requests: number): number {
    return this.#state.ceiling?.until(requests + (this.#state.queues.turn === undefined ? 0 : 1)) ?? 0;
  }

  /** The rate limits as this process knows them now. */
  rateLimits(): RateLimits {
    const policies: Record<string, RateLimit> = Object.create(null);
    for (const policy of this.#state.buckets.names()) policies[policy] = this.#stateOf(policy);
    return {
      policies,
      // Every call draws from `default`, too (specification 8).
      estimate: (calls, policy = "default") => {
        if (!Number.isFinite(calls))
          throw new RequestValidationError({ issues: [{ path: ["calls"], message: "expected a finite number" }] });
        return Math.max(this.#estimate(calls, policy), this.#estimate(calls, "default"));
      },
    };
  }

  #estimate(calls: number, policy: string): number {
    const all = this.#state.queues.waitingFor(policy) + calls;
    const ms = this.#state.tokens.until(policy, all);
    if (all < 1 || !this.#state.paced) return ms;
    return Math.max(ms, this.#untilSent(all), this.#stateOf(policy, all).nextTokenIn);
  }

  /**
   * The state of a policy. While calls wait, no token counts as remaining, whatever keeps them from taking it.
   *
   * @param rank The call that `nextTokenIn` is for, from 1. For a later one it follows from the wait of the first.
   */
  #stateOf(policy: string, rank = 1): RateLimit {
    const level = this.#state.tokens.level(policy);
    if (!this.#state.paced) return { ...level, nextTokenIn: 0, waiting: 0, reason: undefined };
    let waiting = 0;
    let longest: Wait | undefined;
    const now = this.#state.clock.now();
    const gateway = this.#state.gatewayLimit.wait(now)?.ms ?? 0;
    const unread = this.unread(now)?.ms ?? 0;
    let nextTokenIn = Math.max(level.nextTokenIn, gateway, unread, this.#state.ceiling?.until(1) ?? 0);
    for (const { wait, calls } of this.#waits()) {
      if (wait.policy !== policy) continue;
      waiting += calls;
      longest = longer(longest, wait);
      nextTokenIn = Math.max(nextTokenIn, 1, untilTurn(wait, rank));
    }
    const remaining = waiting > 0 || unread > 0 ? 0 : level.remaining;
    return { ...level, remaining, nextTokenIn, waiting, reason: longest?.reason };
  }

  /** What the waiting calls wait for, with the number of calls. */
  *#waits(): Generator<{ readonly wait: Wait; readonly calls: number }> {
    const open = this.#untilOpen();
    if (open !== undefined) yield { wait: open, calls: 1 };
    for (const queue of this.#state.queues) {
      const wait = queue.size > 0 ? this.#waitOf(queue) : undefined;
      if (wait !== undefined) yield { wait, calls: queue.size };
    }
  }
}
