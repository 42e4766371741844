import type { PartnerClock } from "../util/clock.ts";

/** How many orders may be missing at once. */
const burst = 100;
/** Milliseconds after which one more order may be missing. */
const interval = 1_000;

/**
 * Limits the requests for orders that do not exist. Without a token, any program can send callbacks with invented references. The order
 * of a genuine callback exists, so it does not count.
 */
export class MissLimit {
  readonly #clock: PartnerClock;
  #left = burst;
  #at: number;

  constructor(clock: PartnerClock) {
    this.#clock = clock;
    this.#at = clock.now();
  }

  /** Whether no further order may be read for now. */
  get reached(): boolean {
    const now = this.#clock.now();
    this.#left = Math.min(burst, this.#left + (now - this.#at) / interval);
    this.#at = now;
    return this.#left < 1;
  }

  /** Counts an order that does not exist. */
  count(): void {
    this.#left -= 1;
  }
}
