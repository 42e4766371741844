import type { PartnerClock } from "../util/clock.ts";

/** The number of retries that may fail before the client assumes an outage. */
const capacity = 100;

/** Retries per second while the budget is empty. They find the end of the outage. */
const perSecond = 5;

/**
 * The retries that all calls of a client share, so that a client does not overload a service that fails. Each retry uses one, each success
 * returns two, and each second adds five. When the budget is empty, a call whose next attempt is due waits for another backoff
 * instead: the retries of the other calls show whether the service is up again.
 */
export class RetryBudget {
  readonly #clock: PartnerClock;
  #remaining = capacity;
  #filledAt: number;

  constructor(clock: PartnerClock) {
    this.#clock = clock;
    this.#filledAt = clock.now();
  }

  /** Takes one retry; false when the budget is empty. */
  spend(): boolean {
    const now = this.#clock.now();
    const added = ((now - this.#filledAt) / 1_000) * perSecond;
    this.#filledAt = now;
    this.#remaining = Math.min(capacity, this.#remaining + Math.max(0, added));
    if (this.#remaining < 1) return false;
    this.#remaining -= 1;
    return true;
  }

  /** Records that an attempt succeeded: it returns its own retry, and one more. */
  earn(): void {
    this.#remaining = Math.min(capacity, this.#remaining + 2);
  }
}
