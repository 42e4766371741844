import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Wait } from "./distance.ts";
import type { Limits } from "./limits.ts";
import { sizeOf } from "./queue/wait-queue.ts";
import { type RateLimit, type RateLimits, toRateLimits } from "./rate-limits.ts";

/** Why a call waits, and for how long. */
export interface ExpectedWait extends Wait {
  readonly reason: "bucket-empty" | "ceiling";
}

const furthest = <Each extends Wait>(waits: readonly Each[]): Each =>
  waits.reduce((far, next) => (next.ms > far.ms ? next : far));

/** Estimates how long calls wait. Only `tooFar` has an effect: it lets a probe check a distant token. */
export class Forecast {
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** What a request of this endpoint would wait for longest, behind all calls that already wait. */
  waitOf(endpoint: Endpoint): ExpectedWait {
    const { tokens, routes, ceiling } = this.#limits;
    const waits = routes.of(endpoint).map((policy): ExpectedWait => {
      const ms = tokens.until(policy, this.#waitingFor(policy) + 1);
      return { reason: "bucket-empty", policy, ms };
    });
    const ms = ceiling?.until(this.#waitingFor("default") + 1) ?? 0;
    return furthest([...waits, { reason: "ceiling", policy: "default", ms }]);
  }

  /** The policy of an endpoint whose next token is furthest away, if it is further away than `patience` milliseconds. */
  tooFar(endpoint: Endpoint, patience: number): Wait | undefined {
    const { tokens, routes } = this.#limits;
    const far = furthest(routes.of(endpoint).map((policy): Wait => ({ policy, ms: tokens.away(policy) })));
    if (far.ms <= patience) return undefined;
    tokens.probeAfter(far.policy, patience);
    return far;
  }

  /** The number of calls that wait. */
  get waiting(): number {
    return this.#waitingFor("default");
  }

  snapshot(): RateLimits {
    const { tokens, gatewayLimit, ceiling } = this.#limits;
    const limits = [...tokens.names()].map((policy): [string, RateLimit] => {
      const level = tokens.level(policy);
      const nextTokenIn = Math.max(level.nextTokenIn, ceiling?.until(1) ?? 0);
      return [policy, { ...level, nextTokenIn, waiting: this.#waitingFor(policy) }];
    });
    return toRateLimits(limits, (calls, policy) => {
      const all = this.#waitingFor(policy) + calls;
      return Math.max(tokens.until(policy, all), all * gatewayLimit.interval, ceiling?.until(all) ?? 0);
    });
  }

  #waitingFor(policy: string): number {
    let waiting = 0;
    for (const queue of this.#limits.queues) if (queue.policies.includes(policy)) waiting += sizeOf(queue);
    return waiting;
  }
}
