/** The shortest time grows by this with each slower response: a single delay does not count, a longer route does. */
const growth = { factor: 1.005, ms: 0.001 };

/** The shortest time from a request to its response, over the recent responses. */
export class ResponseTimes {
  #shortest = Number.POSITIVE_INFINITY;

  add(took: number): void {
    this.#shortest = Math.min(took, this.#shortest * growth.factor + growth.ms);
  }

  /** Milliseconds; 0 before the first response. */
  get shortest(): number {
    return Number.isFinite(this.#shortest) ? this.#shortest : 0;
  }
}
