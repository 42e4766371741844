import { FairShare } from "./fair-share.ts";
import type { PolicyReport } from "./headers.ts";
import { InFlight, type SentRequest } from "./in-flight.ts";
import type { Wait } from "./wait.ts";

/*
 * What this client knows of one policy's bucket at the service. docs/contributing/pacing.md explains the model and each constant.
 */

/** A token is used this many milliseconds after it is due: the clocks and timers of two machines are not exactly in step. */
export const tokenDelay = 4;
/** The service's clock may be slower than this one by this part, and so may the refill. */
const clockDrift = 0.001;
/**
 * One token stays in a bucket with at least this quota whose token comes within `maxInterval` milliseconds. Without it the first request
 * of another process would always find the bucket empty.
 */
export const keptToken = { minQuota: 10, maxInterval: 30_000 };
/** Each slower response makes the shortest round trip longer by this part: one delay does not count, a longer way does. */
const roundTripGrowth = 0.005;
/** A call always waits for a token that comes within this many milliseconds: no `Retry-After` asks for less. */
export const alwaysWaited = 1_000;
/** A next token that is further away than this many milliseconds may be a fault of the headers: it is checked. */
export const doubtfulDistance = 120_000;

/**
 * Milliseconds for which a policy's first request is alone in flight. With each further period, and with each response of a gateway, the
 * number in flight doubles.
 */
export const probePeriod = 1_000;
/** Milliseconds without a reported level after which other clients may have taken tokens. */
const levelIsStale = 250;
/** The slow start lasts for at least this many milliseconds, and this many round trips: the first responses do not show other clients. */
const slowStartLasts = { ms: 1_000, roundTrips: 3 };
/** Requests in flight during the slow start: at least `min`, and a part of the level that grows from the first to the second number. */
const slowStartInFlight = { min: 4, first: 1 / 32, last: 1 / 4 };

/** How a request ended without a response of the service: it is lost, a gateway responded, or the service certainly never received it. */
export type Ending = "lost" | "gateway" | "unsent";

/**
 * This client's model of one policy's bucket at the service (specification 8).
 *
 * One invariant makes it safe: without other clients, `level` is never more than the service's own level minus the requests in flight.
 * The refill therefore counts only up to the quota minus those requests: while a request is in flight, the service's bucket may still be
 * full, and a full bucket does not refill.
 */
export class Bucket {
  quota: number;
  /** Milliseconds in which the quota refills. */
  window: number;
  #level: number;
  #levelAt: number;
  /** When the service accepts requests again after a 429, and the number of requests that had been sent when it refused one. */
  #heldUntil = 0;
  #sentBeforeHold = 0;
  /** When a request was last sent or ended. */
  #usedAt = Number.NEGATIVE_INFINITY;
  /** The shortest recent time from a request to its response, in milliseconds; 0 before the first response. */
  #roundTrip = 0;
  #sent = 0;
  #ended = 0;
  readonly #slowStart = new SlowStart();
  readonly #fairShare = new FairShare(this);
  readonly #inFlight = new InFlight();
  /** The tokens that other clients are known to have taken, and those that were only assumed before the first report. */
  #taken = 0;
  /** The number of requests sent by then: when the service last changed the quota or window, and by the request that last reported others. */
  #sentBeforeResize = 0;
  #resizedBy = 0;

  constructor(quota: number, window: number, now: number) {
    this.quota = quota;
    this.window = window;
    this.#level = quota;
    this.#levelAt = now;
  }

  /** Milliseconds in which one token refills. */
  get interval(): number {
    return this.window / this.quota;
  }

  /** Whether a response has reported the level since the level was last in doubt. */
  get reported(): boolean {
    return this.#slowStart.reported;
  }

  /** Whether a response has ever reported the level. */
  get reportedBefore(): boolean {
    return this.#slowStart.reportedBefore;
  }

  get roundTrip(): number {
    return this.#roundTrip;
  }

  /** The number of requests without a response: the service may not have received them yet. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Tokens that can be used now. */
  remaining(now: number): number {
    this.#refill(now);
    return this.isHeld(now) ? 0 : Math.max(0, Math.floor(this.#level));
  }

  /** Whether a 429 holds it. */
  isHeld(now: number): boolean {
    return now < this.#heldUntil;
  }

  /** What keeps the next token from being taken now. */
  wait(now: number): Omit<Wait, "policy"> | undefined {
    if (this.isHeld(now)) return { ms: this.#heldUntil - now, reason: "rate-limited" };
    this.#refill(now);
    const probing = this.#slowStart.probing(now, this.#inFlight);
    if (probing > 0) return { ms: probing, reason: "probe" };
    if (this.#fairShare.present) {
      const ms = this.#fairShare.wait(now);
      return ms > 0 ? { ms, reason: "fair-share" } : undefined;
    }
    const cautious = this.#slowStart.wait(now, this.inFlight, this.#level, this.#roundTrip);
    if (cautious > 0) return { ms: cautious, reason: "slow-start" };
    const ms = this.#untilToken();
    return ms > 0 ? { ms, reason: "bucket-empty" } : undefined;
  }

  /** Milliseconds until the level suffices for the next request. A bucket that is full, except for the requests in flight, always suffices. */
  #untilToken(): number {
    const full = Math.max(1, this.quota - this.inFlight);
    const needed = 1 + this.#kept + tokenDelay / this.interval;
    return Math.max(0, (Math.min(needed, full) - this.#level) * this.interval);
  }

  /** The number of tokens that stay in the bucket. */
  get #kept(): number {
    return this.quota >= keptToken.minQuota && this.interval <= keptToken.maxInterval ? 1 : 0;
  }

  /** Milliseconds until the level is a whole token, or until this client's turn. Requests in flight may have made the level negative. */
  distance(now: number): number {
    this.#refill(now);
    const nextToken = (1 - Math.min(1, Math.max(0, this.#level))) * this.interval;
    return Math.max(this.#heldUntil - now, nextToken, this.#fairShare.wait(now));
  }

  /** Whether one request may be sent without a token: the next one is so far away that the headers may be wrong. */
  mayCheck(maxRetryAfter: number, now: number): boolean {
    // The quota may be wrong, a `Retry-After` is less likely to be.
    const pause = Math.max(maxRetryAfter, this.isHeld(now) ? doubtfulDistance : alwaysWaited);
    const idle = this.inFlight === 0 && now - this.#usedAt >= pause;
    return idle && this.distance(now) > Math.max(maxRetryAfter, doubtfulDistance);
  }

  /** Milliseconds until this number of tokens has come, at the present rate. */
  until(tokens: number, now: number): number {
    this.#refill(now);
    const held = Math.max(0, this.#heldUntil - now);
    if (this.#fairShare.present) {
      const first = Math.max(held, this.#fairShare.untilTurn(now));
      return first + Math.max(0, tokens - 1) * this.#fairShare.pace(first);
    }
    const isFull = this.#level >= this.quota - this.inFlight;
    const kept = isFull && tokens <= this.#level ? 0 : this.#kept;
    return Math.max(held, (tokens + kept - Math.max(0, this.#level)) * this.interval);
  }

  take(now: number): SentRequest {
    this.#refill(now);
    if (this.inFlight === 0) this.#slowStart.begin(now, this.#heldUntil);
    this.#level -= 1;
    this.#sent += 1;
    this.#usedAt = now;
    this.#fairShare.take(now);
    const level = this.#level + this.#taken;
    return this.#inFlight.add({ sentAt: now, level, sent: this.#sent, ended: this.#ended });
  }

  /**
   * Removes a request that ended without a response of the service. Unless it was never sent, it may still be on its way to the service,
   * which counts it later.
   */
  forget(request: SentRequest, now: number, ending: Ending): void {
    this.#refill(now);
    this.#ended += 1;
    this.#usedAt = now;
    this.#inFlight.remove(request, ending === "unsent" ? "unsent" : "ended");
    if (ending === "gateway") this.#slowStart.addLostProbe();
    if (ending === "unsent") this.#level = Math.min(this.quota - this.inFlight, this.#level + 1);
  }

  /** Learns from the response to a request that drew from this bucket without being known to. A hold stays: the request shows no end of it. */
  observeNew(report: PolicyReport | undefined, now: number): void {
    const held = this.#heldUntil;
    this.observe(this.take(now), report, now);
    this.#heldUntil = held;
  }

  /** Learns from the response to a request. `report` is undefined when the response does not name this policy. */
  observe(request: SentRequest, report: PolicyReport | undefined, now: number): void {
    this.#refill(now);
    // The service may have counted later requests before this one: those that have ended, and those sent long enough ago. A request takes
    // at least half of the shortest round trip to reach the service.
    const countedBefore = this.#inFlight.overtakers(request, now - this.#roundTrip / 2);
    const endedSince = this.#ended - request.ended;
    const took = now - request.sentAt;
    this.#roundTrip = this.#roundTrip === 0 ? took : Math.min(took, this.#roundTrip * (1 + roundTripGrowth));
    this.#ended += 1;
    this.#usedAt = now;
    const isOld = report !== undefined && this.#resize(request, report);
    this.#inFlight.remove(request, "ended");
    // A request that was sent during the hold is a check. When the service refuses it, too, the hold begins again.
    if (request.sent > this.#sentBeforeHold) this.#heldUntil = 0;
    this.#slowStart.addResponse(now);
    if (report?.remaining === undefined || isOld) return;
    const { reported, reportedBefore } = this.#slowStart;
    this.#slowStart.addLevel(now);
    const remaining = Math.min(report.remaining, this.quota);
    // The service may not have counted the requests in flight, nor those that ended since this one was sent.
    const atLeast = remaining - endedSince - this.inFlight;
    const isFirst = !reported || request.sent === this.#resizedBy;
    if (isFirst) this.#level = Math.min(this.#level, atLeast);
    this.#noticeOthers(request, remaining, countedBefore, now, reportedBefore);
    this.#level = Math.max(this.#level, atLeast);
  }

  /**
   * Holds the bucket after a request was refused. The refusal shows that it is empty, unless the service reports levels and has not reported
   * this one: then a gateway has refused the request.
   */
  hold(until: number, now: number, reportsLevels: boolean): void {
    this.#refill(now);
    if (!reportsLevels || this.#level < 2) this.#level = Math.min(this.#level, 0);
    this.#heldUntil = Math.max(this.#heldUntil, until);
    this.#sentBeforeHold = this.#sent;
    this.#fairShare.refuse(this.#heldUntil);
  }

  /** Shares the bucket from now on: this number of clients use it, this one included, and `level` tokens are this client's part. */
  join(level: number, consumers: number, now: number): void {
    this.#fairShare.join(level, consumers, now);
  }

  /** Other clients took tokens when fewer remain than this client's own requests explain. A difference of up to one token is rounding. */
  #noticeOthers(request: SentRequest, remaining: number, countedBefore: number, now: number, known: boolean): void {
    const likely = remaining + 0.5 - (this.#sent - request.sent);
    const taken = request.level - this.#taken - countedBefore - (remaining + 1);
    // The level of a request that was sent before the service changed the bucket is one of the earlier bucket.
    if (taken > 0 && request.sent > this.#sentBeforeResize) {
      this.#level -= taken;
      this.#taken += taken;
      // Before the first report the level is an assumption: its correction proves nothing.
      if (known) this.#fairShare.notice(likely, now);
    }
    const shared = this.#fairShare.present;
    this.#fairShare.observe(likely, now);
    // A response of a full bucket shows no use: others may begin at the same time.
    if (shared && !this.#fairShare.present) this.#slowStart.restart(now);
  }

  /**
   * Takes over the quota and the window that a response reports. In a bucket that has changed, fewer remaining tokens do not show the use of
   * others. Returns whether the response is older than the present size, which a later request has reported.
   */
  #resize(request: SentRequest, { quota = this.quota, window = this.window }: PolicyReport): boolean {
    if (quota === this.quota && window === this.window) return false;
    if (request.sent < this.#resizedBy) return true;
    // The first report changes no bucket, only an assumption: what the requests in flight report of others still counts.
    if (this.reportedBefore) this.#sentBeforeResize = this.#sent;
    else this.#taken += Math.max(0, this.quota - quota);
    this.quota = quota;
    this.window = window;
    this.#resizedBy = request.sent;
    this.#fairShare.resize();
    // Each request in flight may arrive after the change.
    this.#level = Math.min(this.#level, quota - this.inFlight);
    return false;
  }

  #refill(now: number): void {
    const elapsed = Math.max(0, now - this.#levelAt);
    this.#levelAt = Math.max(this.#levelAt, now);
    this.#level = Math.min(this.quota - this.inFlight, this.#level + ((1 - clockDrift) * elapsed) / this.interval);
  }
}

/**
 * Limits the requests in flight while little is known of the bucket. A service that reports no level is known as well as it will ever be
 * after its first response: then only this client's own model of the bucket counts.
 */
class SlowStart {
  /** Whether a response has come. Until then one request at a time is sent as a probe. */
  #responded = false;
  /** The number of probes since the latest response that a gateway responded to: in an outage, calls must not wait for each other. */
  #lostProbes = 0;
  #respondedAt = Number.NEGATIVE_INFINITY;
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
  probing(now: number, inFlight: InFlight): number {
    const probe = this.#responded ? undefined : inFlight.oldest;
    if (probe === undefined) return 0;
    const periods = Math.floor((now - probe.sentAt) / probePeriod);
    return inFlight.size < 2 ** (periods + this.#lostProbes) ? 0 : probe.sentAt + (periods + 1) * probePeriod - now;
  }

  /** Milliseconds that the next request waits if no response comes; 0 when it may be sent now. */
  wait(now: number, inFlight: number, level: number, roundTrip: number): number {
    if (!this.#reported) return 0;
    const lasts = Math.max(slowStartLasts.ms, slowStartLasts.roundTrips * roundTrip);
    const elapsed = (now - this.#beganAt) / lasts;
    if (elapsed >= 1) return 0;
    const { min, first, last } = slowStartInFlight;
    return inFlight < Math.max(min, (first + (last - first) * elapsed) * level) ? 0 : (1 - elapsed) * lasts;
  }

  /**
   * Records that a request is sent while none is in flight. Other clients may have taken tokens since the latest report; after a hold
   * that is certain, and the request is a probe.
   */
  begin(now: number, heldUntil: number): void {
    if (heldUntil > this.#respondedAt) {
      this.#responded = false;
      this.#reported = false;
    } else if (now - this.#reportedAt > levelIsStale) this.#beganAt = now;
  }

  /** Begins again. */
  restart(now: number): void {
    this.#beganAt = now;
  }

  /** Records that a gateway responded to a request, and not the service. */
  addLostProbe(): void {
    this.#lostProbes += 1;
  }

  /** Records that a response of the service has come. */
  addResponse(now: number): void {
    this.#responded = true;
    this.#lostProbes = 0;
    this.#respondedAt = now;
  }

  /** Records that the response reported the level. */
  addLevel(now: number): void {
    if (!this.#reported) this.#beganAt = now;
    this.#reported = true;
    this.#reportedAt = now;
  }
}
