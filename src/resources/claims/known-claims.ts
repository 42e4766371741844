import type { ClaimReference } from "../../references/references.ts";

/** The latest references are remembered, up to so many. */
const capacity = 10_000;

/** The claims that a client knows: one that it knew before it filed another cannot be the other. */
export class KnownClaims {
  /** Since when each claim is known, by the clock. */
  readonly #since = new Map<string, number>();

  /** A claim was read at `now`. */
  see(reference: ClaimReference, now: number): void {
    if (!this.#since.has(reference)) this.#remember(reference, now);
  }

  /** A claim was filed: it belongs to the call that filed it, and to no other. */
  own(reference: ClaimReference): void {
    this.#since.delete(reference);
    this.#remember(reference, Number.NEGATIVE_INFINITY);
  }

  /** Whether a claim was known before `time`. */
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
