/** Moves of a clock, which run one after the other. */
export class Moves {
  readonly #pending = new Set<(error: Error) => void>();
  #last: Promise<void> = Promise.resolve();
  #started = 0;
  #current = 0;

  /** The number of the move that runs; 0 while none runs. */
  get current(): number {
    return this.#current;
  }

  /** Runs a move after those before it. Once `isCurrent` returns false, the move must change nothing any more. */
  run(move: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#pending.add(reject);
    const isCurrent = () => this.#pending.has(reject);
    this.#last = this.#last
      .then(() => (isCurrent() ? this.#begin(() => move(isCurrent)) : undefined))
      .then(resolve, reject)
      .finally(() => this.#pending.delete(reject));
    return promise;
  }

  /** Ends all moves at once: their promises reject with the error. */
  end(error: Error): void {
    for (const reject of this.#pending) reject(error);
    this.#pending.clear();
    this.#last = Promise.resolve();
    this.#current = 0;
  }

  async #begin(move: () => Promise<void>): Promise<void> {
    this.#started += 1;
    const number = this.#started;
    this.#current = number;
    try {
      await move();
    } finally {
      if (this.#current === number) this.#current = 0;
    }
  }
}
