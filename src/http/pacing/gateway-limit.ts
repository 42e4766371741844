import type { RateLimitReport } from "./headers.ts";
import { RateTrials } from "./rate-trials.ts";

/** A gateway's limit is assumed after this many refusals. Each success reduces their count by a factor. */
const evidence = { refusals: 3, decay: 0.9 };
/**
 * Requests that may be in flight at first. Each response adds one; while no response comes, the number doubles every `ms` milliseconds.
 * A large burst so detects a gateway's limit before the gateway refuses all of it.
 */
const opening = { requests: 16, ms: 100 };
/** Requests per second: the first rate is at least `first`, and each later one at least `least`. */
const rates = { first: 8, least: 1 };
/** While the gateway's limit is unknown, the rate is multiplied by this each second. */
const seeking = 2.5;
/**
 * A refusal reduces the rate by a factor: `soon` when fewer than `requests` were sent since the previous reduction, `unserved` when none of
 * them was served.
 */
const reduction = { usual: 0.97, soon: 0.85, unserved: 0.5, requests: 8 };
/**
 * The rate grows by a part of the gateway's limit each second, and by `below` while it is lower than after a single refusal. The growth
 * doubles within `ms` milliseconds of a reduction and continues to rise: the gateway may have raised its limit.
 */
const growth = { part: 0.01, below: 0.05, ms: 4_000 };
/** Below this part of the gateway's limit, a single refusal has other reasons than the rate. */
const plausible = 0.7;
/** Milliseconds without a refusal after which the limit is dropped. */
const memory = 60_000;
const second = 1_000;

/** How a request ended: `refused` by a gateway, `served` by the service, or `lost`. */
export type Fate = "served" | "refused" | "lost";

/** A gateway refuses with a 503, or with a 429 without the service's rate-limit headers. */
export function fateOf(status: number, report: RateLimitReport): Fate {
  if (status === 503 || (status === 429 && report.size === 0)) return "refused";
  return status < 500 ? "served" : "lost";
}

/**
 * The rate that a gateway in front of the service allows. No header reports it: the gateway refuses requests above it. The rate falls
 * with each refusal and grows until the next one, so that it stays just below the limit.
 */
export class GatewayLimit {
  #inFlight = 0;
  #window = opening.requests;
  #fullSince = 0;
  /** When requests were served in the last second. Earlier ones are removed when this has doubled: once a request would be slow. */
  #served: number[] = [];
  #servedAtMost = 2 * opening.requests;
  #suspicion = 0;
  /** Requests per second; undefined while no gateway is known to limit them. */
  #rate: number | undefined;
  /** The rate at which the gateway last refused a request; undefined while it is unknown. */
  #limit: number | undefined;
  #changedAt = 0;
  #refusedAt = 0;
  #servedSince = 0;
  #tookAt = Number.NEGATIVE_INFINITY;
  readonly #trials = new RateTrials();

  /** Milliseconds between two requests; 0 while no gateway limits them. */
  get interval(): number {
    return this.#rate === undefined ? 0 : second / this.#rate;
  }

  /** Milliseconds until a request may be sent; 0 when one may be sent now. */
  wait(now: number): number {
    if (this.#rate !== undefined && now - this.#refusedAt > memory) this.#lift();
    if (this.#rate !== undefined) return Math.max(0, this.#tookAt + this.interval / this.#trials.speed - now);
    if (this.#inFlight < this.#window) return 0;
    return Math.max(0, this.#fullSince + opening.ms - now);
  }

  take(now: number): void {
    if (this.#rate === undefined && this.#inFlight >= this.#window) this.#window *= 2;
    this.#inFlight += 1;
    if (this.#inFlight >= this.#window) this.#fullSince = now;
    this.#useRate(now);
    this.#tookAt = now;
  }

  /** @param certain Whether the refusal has a `Retry-After`, which shows that it is one. */
  end(sentAt: number, fate: Fate, now: number, certain = false): void {
    this.#inFlight -= 1;
    if (this.#trials.tests(sentAt)) this.#try(fate === "refused", now);
    else if (fate === "refused") this.#refuse(sentAt, now, certain);
    if (fate !== "served") return;
    this.#window += 1;
    this.#suspicion *= evidence.decay;
    if (sentAt >= this.#changedAt) this.#servedSince += 1;
    this.#served.push(now);
    if (this.#served.length > this.#servedAtMost) this.#forgetServed(now);
  }

  #refuse(sentAt: number, now: number, certain: boolean): void {
    this.#suspicion += 1;
    this.#refusedAt = now;
    if (this.#rate === undefined) {
      this.#forgetServed(now);
      const repeated = this.#suspicion >= evidence.refusals && this.#served.length > 0;
      if (!(certain || repeated)) return;
      this.#change(Math.max(rates.first, this.#served.length), now);
      this.#trials.assume(now);
      return;
    }
    // A request sent before the latest change shows nothing about the present rate.
    if (sentAt < this.#changedAt) return;
    if (this.#limit === undefined && this.#servedSince === 0) {
      this.#change(this.#rate * reduction.unserved, now);
      return;
    }
    const noise = this.#rate < plausible * (this.#limit ?? 0) && this.#suspicion < evidence.refusals;
    if (noise) return;
    const factor =
      this.#limit === undefined || now - this.#changedAt < reduction.requests * this.interval
        ? reduction.soon
        : reduction.usual;
    this.#limit = this.#rate;
    this.#change(this.#rate * factor, now);
  }

  #change(rate: number, now: number): void {
    this.#rate = Math.max(rates.least, rate);
    this.#changedAt = now;
    this.#servedSince = 0;
  }

  /** A request of a trial has ended. */
  #try(refused: boolean, now: number): void {
    if (refused) this.#refusedAt = now;
    const verdict = this.#trials.end(refused, now);
    if (this.#rate === undefined || verdict === undefined) return;
    if (verdict === "no limit") this.#limit = 2 * this.#rate;
    this.#change(verdict === "no limit" ? 2 * this.#rate : this.#rate, now);
  }

  /** Raises the rate, and tries a higher one, but only while requests use all of it. */
  #useRate(now: number): void {
    const elapsed = now - this.#tookAt;
    if (this.#rate === undefined || elapsed > 2 * this.interval) return;
    if (this.#limit !== undefined) this.#trials.send(now);
    if (this.#limit === undefined) this.#rate *= seeking ** (elapsed / second);
    else {
      const rising = 1 + ((now - this.#changedAt) / growth.ms) ** 2;
      const part = this.#rate < reduction.usual * this.#limit ? growth.below : growth.part;
      this.#rate += this.#limit * part * rising * (elapsed / second);
    }
  }

  #lift(): void {
    this.#rate = undefined;
    this.#limit = undefined;
    this.#suspicion = 0;
    this.#window = opening.requests;
  }

  #forgetServed(now: number): void {
    this.#served = this.#served.filter((at) => now - at < second);
    this.#servedAtMost = 2 * Math.max(opening.requests, this.#served.length);
  }
}
