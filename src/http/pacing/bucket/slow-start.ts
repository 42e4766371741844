import type { SentRequest } from "./sent-request.ts";

/** How long a policy's first request is alone, so that its answer can tell what the bucket holds, in milliseconds. */
const scoutPatience = 1_000;
/** After so many milliseconds without an answer the picture is old: a large burst could find that others have been there. */
const stale = 250;
/** So many times the way of an answer, at the least, it takes until answers know of others: the first ones do not. */
const careful = 3;
/**
 * While the picture is new or old, so many requests are on their way at a time, or a part of the level, which grows meanwhile: processes
 * that start together see each other before they have sent more than there is.
 */
const allowed = { least: 4, atFirst: 1 / 32, atLast: 1 / 4 };

/** Keeps most requests back while little is known of the bucket. */
export class SlowStart {
  /** Whether an answer has come. Until then one request goes ahead as a scout. */
  #heard = false;
  /** Whether an answer has told what the bucket holds. */
  #told = false;
  #toldAt = Number.NEGATIVE_INFINITY;
  #beganAt = Number.NEGATIVE_INFINITY;

  /** Whether an answer has told what the bucket holds, since that was last in doubt. */
  get told(): boolean {
    return this.#told;
  }

  /** Whether an answer has ever told it. */
  get toldBefore(): boolean {
    return Number.isFinite(this.#toldAt);
  }

  /** Milliseconds until the next request may go while no answer has come. A scout that is long away is followed by more and more. */
  scouting(now: number, inFlight: ReadonlySet<SentRequest>): number {
    const [scout] = inFlight;
    if (this.#heard || scout === undefined) return 0;
    const periods = Math.floor((now - scout.sentAt) / scoutPatience);
    return inFlight.size < 2 ** periods ? 0 : scout.sentAt + (periods + 1) * scoutPatience - now;
  }

  /** Milliseconds that the next request has to wait when no answer comes; 0 when it may go. */
  wait(now: number, inFlight: number, level: number, way: number): number {
    const lasts = Math.max(scoutPatience, careful * way);
    const part = (now - this.#beganAt) / lasts;
    if (part >= 1) return 0;
    const ofLevel = this.#told ? allowed.atFirst + (allowed.atLast - allowed.atFirst) * part : 0;
    return inFlight < Math.max(allowed.least, ofLevel * level) ? 0 : (1 - part) * lasts;
  }

  /** A request goes while none is on its way. Others may have come since; after a refusal that is sure, and it goes alone. */
  goAhead(now: number, heldUntil: number): void {
    if (heldUntil > this.#toldAt) {
      this.#heard = false;
      this.#told = false;
    } else if (now - this.#toldAt > stale) this.#beganAt = now;
  }

  /** An answer has come. */
  hear(now: number): void {
    if (!this.#heard) this.#beganAt = now;
    this.#heard = true;
  }

  /** It told what the bucket holds. */
  tell(now: number): void {
    if (!this.#told) this.#beganAt = now;
    this.#told = true;
    this.#toldAt = now;
  }
}
