/** The number of retries that may fail before the client assumes an outage. */
const capacity = 100;

/**
 * The retries that all calls of a client share, so that a client does not overload a service that fails. Each retry uses one, each success
 * returns one. When the budget is empty, calls fail at their first attempt until one succeeds.
 */
export class RetryBudget {
  #remaining = capacity;

  /** Takes one retry; false when the budget is empty. */
  spend(): boolean {
    if (this.#remaining === 0) return false;
    this.#remaining -= 1;
    return true;
  }

  /** Returns one retry: the client now sends at a lower rate, so the next retry does not overload the service. */
  forgive(): void {
    this.#remaining += 1;
  }

  /** Records that an attempt succeeded. */
  earn(): void {
    if (this.#remaining < capacity) this.#remaining += 1;
  }
}
