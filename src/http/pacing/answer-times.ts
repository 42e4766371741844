/** How long answers take, as far back as is of use: each bound drifts slowly towards what is usual now. */
export class AnswerTimes {
  #shortest = Number.POSITIVE_INFINITY;
  #longest = 0;

  add(took: number): void {
    this.#shortest = took < this.#shortest ? took : this.#shortest + (took - this.#shortest) * 0.02;
    this.#longest = took > this.#longest ? took : this.#longest + (took - this.#longest) * 0.02;
  }

  /** Milliseconds. Infinite before the first answer. */
  get shortest(): number {
    return this.#shortest;
  }

  /** Milliseconds. 0 before the first answer. */
  get longest(): number {
    return this.#longest;
  }
}
