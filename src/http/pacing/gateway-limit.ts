import type { RateLimitReport } from "./headers.ts";
import type { Wait } from "./wait.ts";

/**
 * A limit is assumed when more than `refused` of `sent` requests in a row are refused: a few random refusals show no limit. After a wrong
 * assumption it takes more than `again`, until `sent` requests in a row are served.
 */
const suspicious = { sent: 20, refused: 6, afterMistake: 10 };
/**
 * Requests that may be in flight while no limit is assumed. Each success adds one; while no response comes, the number doubles every `ms`
 * milliseconds. So the gateway refuses a few dozen of a large burst, not all of it.
 */
const startInFlight = { requests: 40, ms: 100 };
/** The first rate is that of the requests that passed in this many milliseconds. In a shorter time a gateway's burst looks like a rate. */
const measuredFor = 500;
/** The lowest first rate, in requests per second: without a burst, a gateway lets only one of many requests pass. */
const minRate = 4;
/** Each refusal multiplies the rate by this. */
const cut = 0.9;
/** The rate grows by this part a second, and twice as fast after every `ms` milliseconds without a refusal. */
const growth = { part: 0.03, ms: 700 };
/** When requests are still refused at this part of the rate that passed before, the rate is not the reason. */
const refuted = 1 / 3;
/** At this rate, in requests per second, no limit is assumed any more. */
const maxRate = 1_000;
const second = 1_000;

/** How a request ended: `refused` by a gateway, `served` by the service, or `lost`. */
export type GatewayOutcome = "served" | "refused" | "lost";

/** A gateway refuses with a 503, or with a 429 without the service's rate-limit headers. */
export function gatewayOutcomeOf(status: number, report: RateLimitReport): GatewayOutcome {
  if (status === 503 || (status === 429 && report.size === 0)) return "refused";
  return status < 500 && status !== 408 ? "served" : "lost";
}

/** Requests that were sent in a row. */
interface Series {
  sent: number;
  served: number;
  refused: number;
}

/** A request on its way through the gateway. */
export interface GatewayRequest {
  readonly sentAt: number;
  readonly series: Series;
  refused: boolean;
}

const nextSeries = (): Series => ({ sent: 0, served: 0, refused: 0 });

/** The rate at which requests are sent to a gateway. */
interface Pace {
  /** Requests per second. */
  rate: number;
  /** How many requests of the half second before `since` have not been refused. */
  before: number;
  /** The rate that passed before, so that the limit is not far below it. */
  passed: number;
  readonly since: number;
  /** When the rate was last cut. */
  cutAt: number;
  /** When the requests were sent that were refused since the latest turn. */
  refused: number[];
  /** When the latest requests were sent that were served and followed refused ones: a turn each, at most three. */
  turns: readonly number[];
}

/**
 * The rate that a gateway in front of the service allows, which no header reports: the gateway refuses what is above it.
 *
 * When about a third of the requests sent in a row is refused, requests go on at the rate that passed just before. Each refusal cuts that
 * rate by a tenth; without one it grows, the longer the faster, so that it stays close to the limit and follows it. A gateway that has
 * just let a rate pass does not refuse a third of it: when requests are still refused there, the service fails for another reason, and they
 * are sent freely again.
 */
export class GatewayLimit {
  #inFlight = 0;
  #mayBeInFlight = startInFlight.requests;
  #fullSince = 0;
  #series = nextSeries();
  /** How many requests of a series may be refused. */
  #tolerated = suspicious.refused;
  /**
   * The requests of the last half second. Earlier ones are removed only when their number has doubled: to do it at each request would be slow.
   */
  #recent: GatewayRequest[] = [];
  #recentAtMost = 2 * startInFlight.requests;
  #servedAt = Number.NEGATIVE_INFINITY;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** Undefined while no limit is assumed. */
  #pace: Pace | undefined;

  /** Milliseconds between two requests; 0 while no limit is assumed. */
  get interval(): number {
    return this.#pace === undefined ? 0 : second / this.#pace.rate;
  }

  /** What keeps the next request from being sent now. */
  wait(now: number): Wait | undefined {
    if (this.#pace !== undefined) {
      const ms = this.#sentAt + this.interval - now;
      return ms > 0 ? { ms, reason: "gateway-limit", policy: "default" } : undefined;
    }
    const ms = this.#fullSince + startInFlight.ms - now;
    return this.#inFlight < this.#mayBeInFlight || ms <= 0
      ? undefined
      : { ms, reason: "slow-start", policy: "default" };
  }

  take(now: number): GatewayRequest {
    if (this.#pace !== undefined) this.#grow(this.#pace, now);
    else if (this.#inFlight >= this.#mayBeInFlight) this.#mayBeInFlight *= 2;
    this.#sentAt = now;
    this.#inFlight += 1;
    if (this.#inFlight >= this.#mayBeInFlight) this.#fullSince = now;
    if (this.#series.sent === suspicious.sent) this.#series = nextSeries();
    this.#series.sent += 1;
    const request = { sentAt: now, series: this.#series, refused: false };
    if (this.#recent.push(request) > this.#recentAtMost) this.#forgetEarlier(now);
    return request;
  }

  end(request: GatewayRequest, outcome: GatewayOutcome, now: number): void {
    this.#inFlight -= 1;
    if (outcome === "refused") this.#refuse(request, now);
    if (outcome !== "served") return;
    this.#servedAt = now;
    if (this.#pace !== undefined) this.#noteTurn(this.#pace, request.sentAt);
    this.#mayBeInFlight += 1;
    request.series.served += 1;
    if (request.series.served === suspicious.sent) this.#tolerated = suspicious.refused;
  }

  #refuse(request: GatewayRequest, now: number): void {
    request.refused = true;
    request.series.refused += 1;
    if (this.#pace !== undefined && request.sentAt > this.#pace.since) this.#pace.refused.push(request.sentAt);
    if (this.#pace === undefined) this.#suspect(request.series, now);
    // A request sent before the latest cut shows nothing about the present rate.
    else if (request.sentAt > this.#pace.cutAt) this.#cut(this.#pace, now);
    else if (this.#pace.cutAt === this.#pace.since && request.sentAt > this.#pace.since - measuredFor)
      this.#measure(this.#pace, this.#pace.before - 1);
  }

  /** Assumes a limit, unless nothing is served: the refusals of an outage have nothing to do with the rate. */
  #suspect({ refused }: Series, now: number): void {
    if (refused <= this.#tolerated || now - this.#servedAt > second) return;
    this.#forgetEarlier(now);
    this.#pace = { rate: minRate, before: 0, passed: minRate, since: now, cutAt: now, refused: [], turns: [] };
    this.#measure(this.#pace, this.#recent.filter((request) => !request.refused).length);
  }

  /** Sets the rate to what passed before. Until the first cut, more refusals of those requests can arrive. */
  #measure(pace: Pace, before: number): void {
    pace.before = before;
    pace.passed = Math.max(minRate, (before * second) / measuredFor);
    pace.rate = pace.passed;
  }

  /** Notes that a request was served that was sent after a refused one. */
  #noteTurn(pace: Pace, sentAt: number): void {
    if (!pace.refused.some((at) => at < sentAt)) return;
    pace.refused = pace.refused.filter((at) => at > sentAt);
    pace.turns = [...pace.turns.slice(-2), sentAt];
  }

  #cut(pace: Pace, now: number): void {
    pace.rate *= cut;
    pace.cutAt = now;
    const lowest = refuted * pace.passed;
    if (pace.rate >= lowest) return;
    // A gateway that counts the requests of each second passes none in the rest of it: one turn a second. A failing service has many more
    // turns. After a wrong assumption they are not counted again.
    const [first = 0, , third = Number.POSITIVE_INFINITY] = pace.turns;
    const wasWrong = this.#tolerated === suspicious.afterMistake;
    if (!wasWrong && third - first >= second && now - this.#servedAt <= second) {
      pace.rate = lowest;
      return;
    }
    this.#tolerated = suspicious.afterMistake;
    this.#lift();
  }

  /** The rate grows only while requests use all of it. */
  #grow(pace: Pace, now: number): void {
    const elapsed = now - this.#sentAt;
    if (elapsed > 2 * this.interval) return;
    pace.rate *= 1 + growth.part * 2 ** ((now - pace.cutAt) / growth.ms) * (elapsed / second);
    if (pace.rate > maxRate) this.#lift();
  }

  /** Requests are sent freely again, first a few: the limit may exist after all. In an outage nothing is served from here on. */
  #lift(): void {
    this.#pace = undefined;
    this.#servedAt = Number.NEGATIVE_INFINITY;
    this.#mayBeInFlight = this.#inFlight + 1;
    this.#series = nextSeries();
  }

  #forgetEarlier(now: number): void {
    this.#recent = this.#recent.filter(({ sentAt }) => now - sentAt < measuredFor);
    this.#recentAtMost = 2 * Math.max(startInFlight.requests, this.#recent.length);
  }
}
