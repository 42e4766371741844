/** How many repeated attempts may fail before it is taken for an outage. */
const capacity = 100;

/**
 * What all calls of a client may spend on sending again, so that an outage is not answered with a storm: each repetition of a
 * failed attempt costs one, each success gives one back. When it is spent, calls fail at their first attempt until one succeeds.
 */
export class RetryBudget {
  #left = capacity;

  /** Takes one repetition; false when none is left. */
  spend(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }

  /** The next repetition costs nothing: it does not come as a storm. */
  forgive(): void {
    this.#left += 1;
  }

  /** An attempt has succeeded. */
  earn(): void {
    if (this.#left < capacity) this.#left += 1;
  }
}
