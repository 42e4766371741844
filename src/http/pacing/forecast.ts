import type { Endpoint } from "../endpoint.ts";
import type { Limits } from "./limits.ts";
import { sizeOf, type WaitQueue } from "./queue/wait-queue.ts";
import { type RateLimit, type RateLimits, toRateLimits } from "./rate-limits.ts";
import type { Wait } from "./wait.ts";

/** Estimates how long calls wait. Only `tooFar` has an effect: it lets a probe check a distant token. */
export class Forecast {
  readonly #limits: Limits;
  readonly #waitOf: (queue: WaitQueue) => Wait | undefined;

  /** @param waitOf What keeps the first call of a queue from being sent. */
  constructor(limits: Limits, waitOf: (queue: WaitQueue) => Wait | undefined) {
    this.#limits = limits;
    this.#waitOf = waitOf;
  }

  /** The policy of an endpoint whose next token is furthest away, if it is further away than `patience` milliseconds. */
  tooFar(endpoint: Endpoint, patience: number): Pick<Wait, "ms" | "policy"> | undefined {
    const { tokens, routes } = this.#limits;
    const waits = routes.of(endpoint).map((policy) => ({ policy, ms: tokens.away(policy) }));
    const far = waits.reduce((one, other) => (other.ms > one.ms ? other : one));
    if (far.ms <= patience) return undefined;
    tokens.probeAfter(far.policy, patience);
    return far;
  }

  /** The number of calls that wait. */
  get waiting(): number {
    return this.#limits.queues.waitingFor("default");
  }

  snapshot(): RateLimits {
    const { tokens, queues, gatewayLimit, ceiling } = this.#limits;
    const limits = [...tokens.names()].map((policy): [string, RateLimit] => [policy, this.#stateOf(policy)]);
    return toRateLimits(limits, (calls, policy) => {
      const all = queues.waitingFor(policy) + calls;
      return Math.max(tokens.until(policy, all), all * gatewayLimit.interval, ceiling?.until(all) ?? 0);
    });
  }

  /** No token is free while calls wait for one, whatever keeps them from taking it. */
  #stateOf(policy: string): RateLimit {
    const { tokens, queues, ceiling } = this.#limits;
    const level = tokens.level(policy);
    let waiting = 0;
    let nextTokenIn = Math.max(level.nextTokenIn, ceiling?.until(1) ?? 0);
    for (const queue of queues) {
      const wait = sizeOf(queue) > 0 ? this.#waitOf(queue) : undefined;
      if (wait?.policy !== policy) continue;
      waiting += sizeOf(queue);
      nextTokenIn = Math.max(nextTokenIn, 1, Number.isFinite(wait.ms) ? wait.ms : 0);
    }
    return { ...level, remaining: waiting > 0 ? 0 : level.remaining, nextTokenIn, waiting };
  }
}
