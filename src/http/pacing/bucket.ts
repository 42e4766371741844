import type { PolicyReport } from "./headers.ts";

/** What a request that took a token is remembered by until it is answered. */
export interface Ticket {
  readonly sentAt: number;
  /** The level right after its token was taken, less what others have been found to take since. */
  level: number;
  /** How many requests that were sent later were answered earlier: they may have been served before it. */
  overtaken: number;
  /** Whether the service has certainly, or after so long surely, taken the token. */
  arrived: boolean;
}

/** How long a policy's first request is alone, so that its answer can tell what the bucket holds, in milliseconds. */
const scoutPatience = 1_000;
/** After so many milliseconds a request without an answer has surely reached the service. */
const arrival = 500;
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
  /** Whether an answer has told what the bucket holds. Until then one request goes ahead as a scout. */
  #heard = false;
  /** Whether the service has stopped naming this policy. */
  #gone = false;
  #heldUntil = 0;
  /** Without an answer, in the order they were sent. */
  readonly #inFlight = new Set<Ticket>();
  /** How many of them may still be on their way. */
  #underway = 0;

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

  /** Tokens that can be used now. */
  remaining(now: number): number {
    this.#refill(now);
    return this.#heldUntil > now ? 0 : Math.max(0, Math.floor(this.#level));
  }

  /** Milliseconds until the next token can be taken; 0 when one is there. */
  wait(now: number): number {
    if (now < this.#heldUntil) return this.#heldUntil - now;
    if (this.#gone) return 0;
    this.#refill(now);
    const [scout] = this.#inFlight;
    if (!this.#heard && scout !== undefined && now < scout.sentAt + scoutPatience)
      return scout.sentAt + scoutPatience - now;
    const full = Math.max(1, this.quota - this.#underway);
    if (this.#level >= Math.min(1 + safety.least / this.interval, full)) return 0;
    return (Math.min(1 + safety.planned / this.interval, full) - this.#level) * this.interval;
  }

  take(now: number): Ticket {
    this.#refill(now);
    this.#level -= 1;
    const ticket = { sentAt: now, level: this.#level, overtaken: 0, arrived: false };
    this.#inFlight.add(ticket);
    this.#underway += 1;
    return ticket;
  }

  /** The request ended without an answer. */
  forget(ticket: Ticket, now: number): void {
    this.#refill(now);
    this.#inFlight.delete(ticket);
    this.#arrive(ticket);
  }

  /** Learns from the answer to a request. `report` is undefined when it does not name this policy. */
  observe(ticket: Ticket, report: PolicyReport | undefined, now: number): void {
    this.#refill(now);
    for (const other of this.#inFlight) {
      if (other === ticket) break;
      other.overtaken += 1;
    }
    this.#inFlight.delete(ticket);
    this.#arrive(ticket);
    const first = !this.#heard;
    this.#heard = true;
    if (report === undefined) return;
    this.#gone = false;
    this.#resize(report);
    if (report.remaining === undefined) return;
    const remaining = Math.min(report.remaining, this.quota);
    // At the least: whoever was sent later, or earlier without an answer, may be missing in what the service counted.
    const atLeast = remaining - ticket.overtaken - this.#inFlight.size;
    if (first) this.#level = Math.min(this.#level, atLeast);
    this.#noticeOthers(ticket, remaining);
    this.#level = Math.max(this.#level, atLeast);
  }

  /** The service names other policies and this one no more: it limits nothing until it is named again. */
  vanish(): void {
    this.#gone = true;
  }

  /** The service refused a request for want of a token: nothing goes until `until`. */
  hold(until: number, now: number): void {
    this.#refill(now);
    this.#level = Math.min(this.#level, 0);
    this.#heldUntil = Math.max(this.#heldUntil, until);
  }

  /** Somebody else took tokens when fewer remain than this side's own requests explain; up to one of them is a fraction. */
  #noticeOthers(ticket: Ticket, remaining: number): void {
    const taken = ticket.level - ticket.overtaken - (remaining + 1);
    if (taken <= 0) return;
    this.#level -= taken;
    for (const other of this.#inFlight) other.level -= taken;
  }

  #resize({ quota, window }: PolicyReport): void {
    if (quota === undefined || window === undefined) return;
    this.quota = quota;
    this.window = window;
    this.#level = Math.min(this.#level, quota - this.#underway);
  }

  #refill(now: number): void {
    const elapsed = Math.max(0, now - this.#at);
    this.#at = now;
    this.#level = Math.min(this.quota - this.#underway, this.#level + elapsed / this.interval);
    if (this.#underway === 0) return;
    for (const ticket of this.#inFlight) {
      if (ticket.sentAt + arrival > now) break;
      this.#arrive(ticket);
    }
  }

  #arrive(ticket: Ticket): void {
    if (ticket.arrived) return;
    ticket.arrived = true;
    this.#underway -= 1;
  }
}
