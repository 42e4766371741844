/** So fast the shortest time grows, with each answer, where answers take longer than before: a stall does not count, a longer way does. */
const growth = { factor: 1.005, ms: 0.001 };

/** How long answers take at the least, as of late. */
export class ResponseTimes {
  #shortest = Number.POSITIVE_INFINITY;

  add(took: number): void {
    this.#shortest = Math.min(took, this.#shortest * growth.factor + growth.ms);
  }

  /** Milliseconds; 0 before the first answer. */
  get shortest(): number {
    return Number.isFinite(this.#shortest) ? this.#shortest : 0;
  }
}
