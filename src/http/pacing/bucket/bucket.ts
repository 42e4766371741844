import { isDoubtful, soon } from "../distance.ts";
import type { PolicyReport } from "../headers.ts";
import type { Wait } from "../wait.ts";
import { FairShare } from "./fair-share.ts";
import { Hold } from "./hold.ts";
import { levelWait, safety } from "./level-wait.ts";
import { ResponseTimes } from "./response-times.ts";
import { overtake, type SentRequest } from "./sent-request.ts";
import { SlowStart } from "./slow-start.ts";

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
  #at: number;
  /** Whether an earlier response had reported the level before the latest one did. */
  #reportedBefore = false;
  #sent = 0;
  #responses = 0;
  readonly #hold = new Hold();
  readonly #times = new ResponseTimes();
  readonly #slowStart = new SlowStart();
  readonly #fairShare = new FairShare(this.#times);
  /** Requests without a response, in the order in which they were sent. */
  readonly #inFlight = new Set<SentRequest>();

  constructor(quota: number, window: number, now: number) {
    this.quota = quota;
    this.window = window;
    this.#level = quota;
    this.#at = now;
  }

  /** Milliseconds in which one token refills. */
  get interval(): number {
    return this.window / this.quota;
  }

  /** Whether a response has reported the level since the level was last in doubt. */
  get reported(): boolean {
    return this.#slowStart.reported;
  }

  /** The shortest time in milliseconds from a request to its response; 0 before the first response. */
  get roundTrip(): number {
    return this.#times.shortest;
  }

  /** The number of requests without a response: the service may not have received them yet. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Tokens that can be used now. */
  remaining(now: number): number {
    this.#refill(now);
    return this.#hold.wait(now) > 0 ? 0 : Math.max(0, Math.floor(this.#level));
  }

  /** What keeps the next token from being taken now. */
  wait(now: number): Omit<Wait, "policy"> | undefined {
    const held = this.#hold.wait(now);
    if (held > 0) return { ms: held, reason: this.#hold.refused ? "rate-limited" : "bucket-empty" };
    this.#refill(now);
    if (this.#mayProbe(now)) return undefined;
    const probing = this.#slowStart.probing(now, this.#inFlight);
    if (probing > 0) return { ms: probing, reason: "probe" };
    if (this.#fairShare.present) {
      const ms = this.#fairShare.wait(this.quota, this.interval, this.inFlight, now);
      return ms > 0 ? { ms, reason: "fair-share" } : undefined;
    }
    const cautious = this.#slowStart.wait(now, this.inFlight, this.#level, this.roundTrip);
    if (cautious > 0) return { ms: cautious, reason: "slow-start" };
    const ms = levelWait(this.#level, this.quota, this.interval, this.inFlight);
    return ms > 0 ? { ms, reason: "bucket-empty" } : undefined;
  }

  /**
   * Milliseconds until the next token comes, by a 429 or by the quota; the queue does not count. 0 when the token comes soon, or when a
   * probe may check whether the distance is still right.
   */
  away(now: number): number {
    this.#refill(now);
    const distance = this.#distance(now);
    const held = this.#hold.wait(now);
    if (held > 0) return Math.max(held, this.#hold.refusedUntil - now, distance);
    return distance <= soon || this.#mayProbe(now) ? 0 : distance;
  }

  /** Where the next token is further away than calls wait, lets one request check that after `patience` milliseconds. */
  probeAfter(patience: number, now: number): void {
    const away = this.away(now);
    if (!isDoubtful(away, patience) || this.#hold.wait(now) > 0 || this.inFlight > 0) return;
    this.#hold.set(now + Math.max(patience, soon), now + away, false);
  }

  /** Milliseconds until the level is a whole token, or until this client's turn. Requests in flight may have made the level negative. */
  #distance(now: number): number {
    const nextToken = (1 - Math.min(1, Math.max(0, this.#level))) * this.interval;
    return Math.max(nextToken, this.#fairShare.wait(this.quota, this.interval, this.inFlight, now));
  }

  /** Whether a request may be sent without a token, because what the service reported may be wrong. */
  #mayProbe(now: number): boolean {
    return now < this.#hold.refusedUntil && this.inFlight === 0 && isDoubtful(this.#distance(now));
  }

  /** Milliseconds until this number of tokens has come, at the present rate. */
  until(tokens: number, now: number): number {
    this.#refill(now);
    const held = this.#hold.wait(now);
    if (this.#fairShare.present) return held + tokens * this.#fairShare.pace(this.quota, this.interval);
    return Math.max(held, (tokens - Math.max(0, this.#level)) * this.interval);
  }

  take(now: number): SentRequest {
    this.#refill(now);
    if (this.inFlight === 0) this.#slowStart.begin(now, this.#hold.until);
    this.#level -= 1;
    this.#sent += 1;
    this.#fairShare.take(this.quota, this.interval, now);
    const request = { sentAt: now, level: this.#level, sent: this.#sent, responses: this.#responses, overtaken: 0 };
    this.#inFlight.add(request);
    return request;
  }

  /** Removes a request that ended without a response. */
  forget(request: SentRequest, now: number): void {
    this.#refill(now);
    this.#inFlight.delete(request);
  }

  /** Learns from the response to a request. `report` is undefined when the response does not name this policy. */
  observe(request: SentRequest, report: PolicyReport | undefined, now: number): void {
    this.#refill(now);
    const earlier = overtake(request, this.#inFlight, this.roundTrip, now);
    const meanwhile = this.#responses - request.responses;
    this.#responses += 1;
    this.#inFlight.delete(request);
    this.#times.add(now - request.sentAt);
    this.#slowStart.addResponse(now);
    if (report !== undefined) this.#resize(report);
    if (report?.remaining === undefined) return;
    this.#hold.observe(request.sentAt);
    const { reported, reportedBefore } = this.#slowStart;
    this.#slowStart.addLevel(now);
    this.#reportedBefore = reportedBefore;
    const remaining = Math.min(report.remaining, this.quota);
    // The service may not have counted the requests in flight, nor those whose responses came meanwhile.
    const atLeast = remaining - meanwhile - this.inFlight;
    if (!reported) this.#level = Math.min(this.#level, atLeast);
    this.#noticeOthers(request, remaining, earlier, now, reportedBefore);
    this.#level = Math.max(this.#level, atLeast);
  }

  /** Holds the bucket after the service refused a request. Another client took the token, unless this is the first report of the level. */
  hold(until: number, now: number, refusedUntil: number): void {
    this.#refill(now);
    this.#level = Math.min(this.#level, 0);
    this.#hold.set(until, refusedUntil, true);
    if (this.#reportedBefore) this.#fairShare.notice(0, now);
    this.#fairShare.refuse(this.#hold.until, this.interval);
  }

  /** Shares the bucket from now on: this number of clients use it, this one included, and `level` tokens are this client's part. */
  join(level: number, consumers: number, now: number): void {
    this.#fairShare.join(level, consumers, this.interval, now);
  }

  /** Other clients took tokens when fewer remain than this client's own requests explain. A difference of up to one token is rounding. */
  #noticeOthers(request: SentRequest, remaining: number, earlier: number, now: number, known: boolean): void {
    const likely = remaining + 0.5 - (this.#sent - request.sent);
    const taken = request.level - earlier - (remaining + 1);
    if (taken > 0) {
      this.#level -= taken;
      for (const other of this.#inFlight) other.level -= taken;
      // Before the first report the level is an assumption: its correction proves nothing.
      if (known) this.#fairShare.notice(likely, now);
    }
    const shared = this.#fairShare.present;
    this.#fairShare.observe(request.sentAt, likely, this.quota, this.interval, now);
    if (shared && !this.#fairShare.present) this.#level = Math.min(this.#level, likely - 1);
  }

  #resize({ quota, window }: PolicyReport): void {
    if (quota === undefined || window === undefined) return;
    this.quota = quota;
    this.window = window;
    this.#level = Math.min(this.#level, quota - this.inFlight);
    for (const request of this.#inFlight) request.level = Math.min(request.level, quota - 1);
  }

  #refill(now: number): void {
    const elapsed = Math.max(0, now - this.#at);
    this.#at = Math.max(this.#at, now);
    this.#level = Math.min(this.quota - this.inFlight, this.#level + ((1 - safety.drift) * elapsed) / this.interval);
  }
}
