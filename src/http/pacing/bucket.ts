import { AnswerTimes } from "./answer-times.ts";
import { isDoubtful, soon } from "./distance.ts";
import type { PolicyReport } from "./headers.ts";
import { longestArrival, OnTheWay } from "./on-the-way.ts";
import { Opening } from "./opening.ts";
import { Share } from "./share.ts";
import type { Ticket } from "./ticket.ts";

/**
 * Left in a bucket of at least this quota, where a token comes within so many milliseconds: without it the scout of another process
 * would find the bucket empty every time.
 */
const doorstep = { quota: 10, interval: 1_000, tokens: 1 };
/** By the most careful reckoning a request without an answer arrives within so many milliseconds, or half a window. */
const unansweredFor = 1_500;
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
  readonly #times = new AnswerTimes();
  readonly #opening = new Opening();
  readonly #share = new Share(this.#times);
  /** Without an answer, in the order they were sent. */
  readonly #inFlight = new Set<Ticket>();
  readonly #onTheWay = new OnTheWay();

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
    return this.#opening.told;
  }

  /** Whether requests are on their way. */
  get busy(): boolean {
    return this.#inFlight.size > 0;
  }

  /** Milliseconds that an answer takes at the least; 0 before the first one. */
  get way(): number {
    return Number.isFinite(this.#times.shortest) ? this.#times.shortest : 0;
  }

  /** Requests that may not have reached the service yet, by the most careful reckoning. */
  underWay(now: number): number {
    const arrival = Math.max(longestArrival, Math.min(unansweredFor, this.window / 2));
    let arrived = 0;
    for (const { sentAt } of this.#inFlight) {
      if (sentAt + arrival > now) break;
      arrived += 1;
    }
    return this.#inFlight.size - arrived;
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
    const scouting = this.#opening.scouting(now, this.#inFlight);
    if (scouting > 0) return scouting;
    if (this.#share.present) return this.#share.wait(this.quota, this.interval, now);
    const cautious = this.#opening.wait(now, this.#inFlight.size, this.#level);
    if (cautious > 0) return cautious;
    const full = Math.max(1, this.quota - this.#onTheWay.size);
    const kept = this.quota >= doorstep.quota && this.interval <= doorstep.interval ? doorstep.tokens : 0;
    const needed = 1 + kept;
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
    if (!isDoubtful(away, patience) || now < this.#heldUntil || this.busy) return;
    this.#heldUntil = now + Math.max(patience, soon);
    this.#saidUntil = now + away;
  }

  /** Milliseconds until the level is a whole token, or until this side's turn. Requests on their way may have brought it below zero. */
  #distance(now: number): number {
    const nextToken = (1 - Math.min(1, Math.max(0, this.#level))) * this.interval;
    return Math.max(nextToken, this.#share.wait(this.quota, this.interval, now));
  }

  /** Whether a request may go although there is no token, since what the service said may be wrong. */
  #looksAgain(now: number): boolean {
    return now < this.#saidUntil && !this.busy && isDoubtful(this.#distance(now));
  }

  /** Milliseconds until so many tokens will have come, at the present rate. */
  until(tokens: number, now: number): number {
    this.#refill(now);
    const held = Math.max(0, this.#heldUntil - now);
    if (this.#share.present) return held + tokens * this.#share.pace(this.quota, this.interval);
    return Math.max(held, (tokens - Math.max(0, this.#level)) * this.interval);
  }

  take(now: number): Ticket {
    this.#refill(now);
    if (this.#inFlight.size === 0) this.#opening.goAhead(now, this.#heldUntil, this.way);
    this.#level -= 1;
    this.#sent += 1;
    this.#share.take(this.quota, this.interval, now);
    const ticket = { sentAt: now, level: this.#level, sent: this.#sent, answered: this.#answered, overtaken: 0 };
    this.#inFlight.add(ticket);
    this.#onTheWay.add(ticket);
    return ticket;
  }

  /** The request ended without an answer. */
  forget(ticket: Ticket, now: number): void {
    this.#refill(now);
    this.#inFlight.delete(ticket);
    this.#onTheWay.delete(ticket);
  }

  /** Learns from the answer to a request. `report` is undefined when it does not name this policy. */
  observe(ticket: Ticket, report: PolicyReport | undefined, now: number): void {
    this.#refill(now);
    for (const other of this.#inFlight) {
      if (other === ticket) break;
      other.overtaken += 1;
    }
    const meanwhile = this.#answered - ticket.answered;
    this.#answered += 1;
    this.#inFlight.delete(ticket);
    this.#onTheWay.delete(ticket);
    this.#times.add(now - ticket.sentAt);
    this.#opening.hear(now, this.way);
    if (report !== undefined) this.#resize(report);
    if (report?.remaining === undefined) return;
    if (ticket.sentAt >= this.#heldUntil) this.#saidUntil = 0;
    const { told, toldBefore } = this.#opening;
    this.#opening.tell(now, this.way);
    this.#surprised = toldBefore;
    const remaining = Math.min(report.remaining, this.quota);
    // At the least: whoever has no answer yet, or was answered meanwhile, may be missing in what the service counted.
    const atLeast = remaining - meanwhile - this.#inFlight.size;
    if (!told) this.#level = Math.min(this.#level, atLeast);
    // Likely: the service counted in the order of sending.
    this.#noticeOthers(ticket, remaining, now, toldBefore);
    this.#level = Math.max(this.#level, atLeast);
  }

  /** The service refused a request for want of a token: nothing goes until `until`. Somebody else took it, unless it is the first news. */
  hold(until: number, now: number, said: number): void {
    this.#refill(now);
    this.#level = Math.min(this.#level, 0);
    this.#heldUntil = Math.max(this.#heldUntil, until);
    this.#saidUntil = said;
    this.#share.refuse(this.#heldUntil, this.interval, now);
    if (this.#surprised) this.#share.notice(0, this.interval, now);
  }

  /** So many consumers are known to drink, this one included, and it may use so many tokens of what there is. */
  join(level: number, consumers: number, now: number): void {
    this.#share.join(level, consumers, this.interval, now);
  }

  /**
   * Somebody else took tokens when fewer remain than this side's own requests explain. Up to one token is a fraction, and those
   * that overtook this request on the way back may have done so on the way there.
   */
  #noticeOthers(ticket: Ticket, remaining: number, now: number, known: boolean): void {
    const sentLater = this.#sent - ticket.sent;
    const likely = remaining + 0.5 - sentLater;
    const taken = ticket.level - ticket.overtaken - Math.min(sentLater, 2) - (remaining + 1);
    if (taken > 0) {
      this.#level -= taken;
      for (const other of this.#inFlight) other.level -= taken;
      // What the first answer corrects is only a guess of ours.
      if (known) this.#share.notice(likely, this.interval, now);
    }
    const shared = this.#share.present;
    this.#share.hear(ticket.sentAt, likely, this.quota, this.interval, now);
    if (shared && !this.#share.present) this.#level = Math.min(this.#level, likely - 1);
  }

  #resize({ quota, window }: PolicyReport): void {
    if (quota === undefined || window === undefined) return;
    this.quota = quota;
    this.window = window;
    this.#level = Math.min(this.#level, quota - this.#onTheWay.size);
    for (const ticket of this.#inFlight) ticket.level = Math.min(ticket.level, quota - 1);
  }

  #refill(now: number): void {
    this.#onTheWay.settle(now, this.#times.longest, (at) => this.#advance(at));
    this.#advance(now);
  }

  #advance(to: number): void {
    const elapsed = Math.max(0, to - this.#at);
    this.#at = Math.max(this.#at, to);
    this.#level = Math.min(this.quota - this.#onTheWay.size, this.#level + elapsed / this.interval);
  }
}
