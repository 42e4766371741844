import type { SentRequest } from "./sent-request.ts";

/** Milliseconds for which a policy's first request is alone in flight, so that its response can report the level. */
const probePatience = 1_000;
/** Milliseconds without a response after which the level is stale: other clients may have taken tokens. */
const stale = 250;
/** The cautious phase lasts at least this many round trips: the first responses do not show other clients yet. */
const roundTrips = 3;
/**
 * While the level is new or stale, this many requests are in flight at a time, or a part of the level, which grows during the phase.
 * Processes that start together so notice each other before they have sent more requests than there are tokens.
 */
const allowed = { least: 4, atFirst: 1 / 32, atLast: 1 / 4 };

/**
 * Limits the requests in flight while little is known of the bucket. A service that reports no level is known as well as it will ever be
 * after its first response: then only this client's own model of the bucket counts.
 */
export class SlowStart {
  /** Whether a response has come. Until then one request at a time is sent as a probe. */
  #responded = false;
  #respondedAt = Number.NEGATIVE_INFINITY;
  /** Whether a response has reported the level. */
  #reported = false;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #beganAt = Number.NEGATIVE_INFINITY;

  /** Whether a response has reported the level since the level was last in doubt. */
  get reported(): boolean {
    return this.#reported;
  }

  /** Whether a response has ever reported the level. */
  get reportedBefore(): boolean {
    return Number.isFinite(this.#reportedAt);
  }

  /** Milliseconds until the next request may be sent while no response has come. The number of probes doubles with each period. */
  probing(now: number, inFlight: ReadonlySet<SentRequest>): number {
    const [probe] = inFlight;
    if (this.#responded || probe === undefined) return 0;
    const periods = Math.floor((now - probe.sentAt) / probePatience);
    return inFlight.size < 2 ** periods ? 0 : probe.sentAt + (periods + 1) * probePatience - now;
  }

  /** Milliseconds that the next request waits if no response comes; 0 when it may be sent now. */
  wait(now: number, inFlight: number, level: number, roundTrip: number): number {
    if (!this.#reported) return 0;
    const lasts = Math.max(probePatience, roundTrips * roundTrip);
    const part = (now - this.#beganAt) / lasts;
    if (part >= 1) return 0;
    const ofLevel = allowed.atFirst + (allowed.atLast - allowed.atFirst) * part;
    return inFlight < Math.max(allowed.least, ofLevel * level) ? 0 : (1 - part) * lasts;
  }

  /**
   * Records that a request is sent while none is in flight. Other clients may have taken tokens since the latest report; after a hold
   * that is certain, and the request is a probe.
   */
  begin(now: number, heldUntil: number): void {
    if (heldUntil > this.#respondedAt) {
      this.#responded = false;
      this.#reported = false;
    } else if (now - this.#reportedAt > stale) this.#beganAt = now;
  }

  /** Records that a response has come. */
  addResponse(now: number): void {
    this.#responded = true;
    this.#respondedAt = now;
  }

  /** Records that the response reported the level. */
  addLevel(now: number): void {
    if (!this.#reported) this.#beganAt = now;
    this.#reported = true;
    this.#reportedAt = now;
  }
}
