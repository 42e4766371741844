import type { ClaimReference } from "../../references/references.ts";

/** Maximum number of remembered claims. The oldest are dropped first. */
const capacity = 10_000;

/** Remembers the claims that a client has seen. A claim seen before a request was sent cannot be the result of that request. */
export class KnownClaims {
  /** When each claim was first seen, in milliseconds of the clock. */
  readonly #since = new Map<string, number>();

  /** Records that a claim was read at `now`. */
  see(reference: ClaimReference, now: number): void {
    if (!this.#since.has(reference)) this.#remember(reference, now);
  }

  /** Records that a call filed a claim. The claim cannot be the result of another call. */
  own(reference: ClaimReference): void {
    this.#since.delete(reference);
    this.#remember(reference, Number.NEGATIVE_INFINITY);
  }

  /** Whether a claim was already known at `time`. */
  wasKnown(reference: ClaimReference, time: number): boolean {
    return (this.#since.get(reference) ?? Number.POSITIVE_INFINITY) < time;
  }

  #remember(reference: string, since: number): void {
    this.#since.set(reference, since);
    if (this.#since.size <= capacity) return;
    const [oldest] = this.#since.keys();
    if (oldest !== undefined) this.#since.delete(oldest);
  }
}
