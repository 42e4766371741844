import type { Ticket } from "./ticket.ts";

/** How long a policy's first request is alone, so that its answer can tell what the bucket holds, in milliseconds. */
const scoutPatience = 1_000;
/** After so many milliseconds without an answer the picture is old: a large burst could find that others have been there. */
const stale = 250;
/** So many times the way of an answer, at the least, it takes until answers know of others: the first ones do not. */
const careful = 3;
/**
 * While the picture is new or old, requests go ahead by a part of the level, or by so many for each answer: processes that start
 * together see each other before they have sent more than there is.
 */
const allowed = { ofLevel: 1 / 16, perAnswer: 2 };

/** Keeps most requests back while little is known of the bucket. */
export class Opening {
  /** Whether an answer has come. Until then one request goes ahead as a scout. */
  #heard = false;
  /** Whether an answer has told what the bucket holds. */
  #told = false;
  #toldAt = Number.NEGATIVE_INFINITY;
  #until = 0;
  /** Answers since it was begun. */
  #answers = 0;

  /** Whether an answer has told what the bucket holds, since that was last in doubt. */
  get told(): boolean {
    return this.#told;
  }

  /** Whether an answer has ever told it. */
  get toldBefore(): boolean {
    return Number.isFinite(this.#toldAt);
  }

  /** Milliseconds until the next request may go while no answer has come. A scout that is long away is followed by more and more. */
  scouting(now: number, inFlight: ReadonlySet<Ticket>): number {
    const [scout] = inFlight;
    if (this.#heard || scout === undefined) return 0;
    const periods = Math.floor((now - scout.sentAt) / scoutPatience);
    return inFlight.size < 2 ** periods ? 0 : scout.sentAt + (periods + 1) * scoutPatience - now;
  }

  /** Milliseconds that the next request has to wait when no answer comes; 0 when it may go. */
  wait(now: number, inFlight: number, level: number): number {
    if (now >= this.#until) return 0;
    const byLevel = this.#told ? level * allowed.ofLevel : 0;
    return inFlight < Math.max(byLevel, allowed.perAnswer * (1 + this.#answers)) ? 0 : this.#until - now;
  }

  /** A request goes while none is on its way. Others may have come since; after a refusal that is sure, and it goes alone. */
  goAhead(now: number, heldUntil: number, way: number): void {
    if (heldUntil > this.#toldAt) {
      this.#heard = false;
      this.#told = false;
    } else if (now - this.#toldAt > stale) this.#begin(now, way);
  }

  /** An answer has come. */
  hear(now: number, way: number): void {
    this.#answers += 1;
    if (!this.#heard) this.#begin(now, way);
    this.#heard = true;
  }

  /** It told what the bucket holds. */
  tell(now: number, way: number): void {
    if (!this.#told) this.#begin(now, way);
    this.#told = true;
    this.#toldAt = now;
  }

  #begin(now: number, way: number): void {
    this.#until = now + Math.max(scoutPatience, careful * way);
    this.#answers = 0;
  }
}
