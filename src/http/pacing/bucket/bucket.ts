import { isDoubtful, soon } from "../distance.ts";
import type { PolicyReport } from "../headers.ts";
import { FairShare } from "./fair-share.ts";
import { ResponseTimes } from "./response-times.ts";
import type { SentRequest } from "./sent-request.ts";
import { SlowStart } from "./slow-start.ts";

/**
 * Left in a bucket of at least this quota, where a token comes within so many milliseconds: without it the scout of another process
 * would find the bucket empty every time.
 */
const doorstep = { quota: 10, interval: 30_000, tokens: 1 };
/** The service's clock may be slower than this one by this part: as much less refill is counted on. */
const drift = 0.001;
/** The two clocks tick a little apart: a token is used these many milliseconds after it is due, at the least and by plan. */
const safety = { least: 3, planned: 4 };

/**
 * This side's picture of one policy's bucket at the service (specification 8).
 *
 * What makes it safe is one invariant: with nobody else drinking, `level` is never more than the service's own level less the
 * requests on their way to it. Refill is therefore counted only up to the quota less those requests: while one is on its way,
 * the service's bucket may still be full and refill nothing.
 */
export class Bucket {
  quota: number;
  /** Milliseconds in which the quota refills. */
  window: number;
  #level: number;
  #at: number;
  /** Whether it had been told before it was last told. */
  #surprised = false;
  #heldUntil = 0;
  /** Until when the service said that nothing should go: nobody waits for as long as that may be. */
  #saidUntil = 0;
  #sent = 0;
  #answered = 0;
  readonly #times = new ResponseTimes();
  readonly #slowStart = new SlowStart();
  readonly #fairShare = new FairShare(this.#times);
  /** Without an answer, in the order they were sent. */
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

  /** Whether an answer has told what the bucket holds, since it was last in doubt. */
  get told(): boolean {
    return this.#slowStart.told;
  }

  /** Milliseconds that an answer takes at the least; 0 before the first one. */
  get way(): number {
    return this.#times.shortest;
  }

  /** Requests without an answer: they may not have reached the service yet. */
  get underWay(): number {
    return this.#inFlight.size;
  }

  /** Tokens that can be used now. */
  remaining(now: number): number {
    this.#refill(now);
    return this.#heldUntil > now ? 0 : Math.max(0, Math.floor(this.#level));
  }

  /** Milliseconds until the next token can be taken; 0 when one is there. */
  wait(now: number): number {
    if (now < this.#heldUntil) return this.#heldUntil - now;
    this.#refill(now);
    if (this.#looksAgain(now)) return 0;
    const scouting = this.#slowStart.scouting(now, this.#inFlight);
    if (scouting > 0) return scouting;
    if (this.#fairShare.present) return this.#fairShare.wait(this.quota, this.interval, this.#inFlight.size, now);
    const cautious = this.#slowStart.wait(now, this.#inFlight.size, this.#level, this.way);
    if (cautious > 0) return cautious;
    const full = Math.max(1, this.quota - this.#inFlight.size);
    const needed = 1 + (this.quota >= doorstep.quota && this.interval <= doorstep.interval ? doorstep.tokens : 0);
    if (this.#level >= Math.min(needed + safety.least / this.interval, full)) return 0;
    return (Math.min(needed + safety.planned / this.interval, full) - this.#level) * this.interval;
  }

  /**
   * Milliseconds until the next token comes, by a 429 or by the quota: a place in the queue does not count. 0 when it comes soon, or
   * when a request may look whether it is still so.
   */
  away(now: number): number {
    this.#refill(now);
    const distance = this.#distance(now);
    if (now < this.#heldUntil) return Math.max(this.#heldUntil - now, this.#saidUntil - now, distance);
    return distance <= soon || this.#looksAgain(now) ? 0 : distance;
  }

  /** The next token is further away than somebody waits: has one request look again after `patience` milliseconds. */
  doubt(patience: number, now: number): void {
    const away = this.away(now);
    if (!isDoubtful(away, patience) || now < this.#heldUntil || this.underWay > 0) return;
    this.#heldUntil = now + Math.max(patience, soon);
    this.#saidUntil = now + away;
  }

  /** Milliseconds until the level is a whole token, or until this side's turn. Requests on their way may have brought it below zero. */
  #distance(now: number): number {
    const nextToken = (1 - Math.min(1, Math.max(0, this.#level))) * this.interval;
    return Math.max(nextToken, this.#fairShare.wait(this.quota, this.interval, this.#inFlight.size, now));
  }

  /** Whether a request may go although there is no token, since what the service said may be wrong. */
  #looksAgain(now: number): boolean {
    return now < this.#saidUntil && this.underWay === 0 && isDoubtful(this.#distance(now));
  }

  /** Milliseconds until so many tokens will have come, at the present rate. */
  until(tokens: number, now: number): number {
    this.#refill(now);
    const held = Math.max(0, this.#heldUntil - now);
    if (this.#fairShare.present) return held + tokens * this.#fairShare.pace(this.quota, this.interval);
    return Math.max(held, (tokens - Math.max(0, this.#level)) * this.interval);
  }

  take(now: number): SentRequest {
    this.#refill(now);
    if (this.#inFlight.size === 0) this.#slowStart.goAhead(now, this.#heldUntil);
    this.#level -= 1;
    this.#sent += 1;
    this.#fairShare.take(this.quota, this.interval, now);
    const ticket = { sentAt: now, level: this.#level, sent: this.#sent, answered: this.#answered, overtaken: 0 };
    this.#inFlight.add(ticket);
    return ticket;
  }

  /** The request ended without an answer. */
  forget(ticket: SentRequest, now: number): void {
    this.#refill(now);
    this.#inFlight.delete(ticket);
  }

  /** Learns from the answer to a request. `report` is undefined when it does not name this policy. */
  observe(ticket: SentRequest, report: PolicyReport | undefined, now: number): void {
    this.#refill(now);
    const earlier = this.#overtake(ticket, now);
    const meanwhile = this.#answered - ticket.answered;
    this.#answered += 1;
    this.#inFlight.delete(ticket);
    this.#times.add(now - ticket.sentAt);
    this.#slowStart.hear(now);
    if (report !== undefined) this.#resize(report);
    if (report?.remaining === undefined) return;
    if (ticket.sentAt >= this.#heldUntil) this.#saidUntil = 0;
    const { told, toldBefore } = this.#slowStart;
    this.#slowStart.tell(now);
    this.#surprised = toldBefore;
    const remaining = Math.min(report.remaining, this.quota);
    // Whoever has no answer yet, or was answered meanwhile, may be missing in what the service counted.
    const atLeast = remaining - meanwhile - this.#inFlight.size;
    if (!told) this.#level = Math.min(this.#level, atLeast);
    this.#noticeOthers(ticket, remaining, earlier, now, toldBefore);
    this.#level = Math.max(this.#level, atLeast);
  }

  /** The service refused a request for want of a token: nothing goes until then. Somebody else took it, unless it is the first news. */
  hold(until: number, now: number, said: number): void {
    this.#refill(now);
    this.#level = Math.min(this.#level, 0);
    this.#heldUntil = Math.max(this.#heldUntil, until);
    this.#saidUntil = said;
    if (this.#surprised) this.#fairShare.notice(0, now);
    this.#fairShare.refuse(this.#heldUntil, this.interval);
  }

  /**
   * At the most so many requests that were sent later than this one, which is answered now, may have been counted before it: those that
   * are answered already, and those sent so long ago that they could be. A request is on its way for half of the shortest time at least.
   */
  #overtake(ticket: SentRequest, now: number): number {
    let earlier = ticket.overtaken;
    for (const other of this.#inFlight) {
      if (other.sent < ticket.sent) other.overtaken += 1;
      else if (other.sentAt > now - this.way / 2) break;
      else if (other !== ticket) earlier += 1;
    }
    return earlier;
  }

  /** So many consumers are known to drink, this one included, and it may use so many tokens of what there is. */
  join(level: number, consumers: number, now: number): void {
    this.#fairShare.join(level, consumers, this.interval, now);
  }

  /** Somebody else took tokens when fewer remain than this side's own requests can explain. Up to one token is a fraction. */
  #noticeOthers(ticket: SentRequest, remaining: number, earlier: number, now: number, known: boolean): void {
    const likely = remaining + 0.5 - (this.#sent - ticket.sent);
    const taken = ticket.level - earlier - (remaining + 1);
    if (taken > 0) {
      this.#level -= taken;
      for (const other of this.#inFlight) other.level -= taken;
      // What the first answer corrects is only a guess of ours.
      if (known) this.#fairShare.notice(likely, now);
    }
    const shared = this.#fairShare.present;
    this.#fairShare.hear(ticket.sentAt, likely, this.quota, this.interval, now);
    if (shared && !this.#fairShare.present) this.#level = Math.min(this.#level, likely - 1);
  }

  #resize({ quota, window }: PolicyReport): void {
    if (quota === undefined || window === undefined) return;
    this.quota = quota;
    this.window = window;
    this.#level = Math.min(this.#level, quota - this.#inFlight.size);
    for (const ticket of this.#inFlight) ticket.level = Math.min(ticket.level, quota - 1);
  }

  #refill(now: number): void {
    const elapsed = Math.max(0, now - this.#at);
    this.#at = Math.max(this.#at, now);
    this.#level = Math.min(this.quota - this.#inFlight.size, this.#level + ((1 - drift) * elapsed) / this.interval);
  }
}
