import type { BatchWaits } from "./batch-waits.ts";

/** A number of places, for work that may only be done a few at a time. */
export class Slots {
  #free: number;
  readonly #waits: BatchWaits;
  readonly #queue = new Set<() => void>();

  constructor(count: number, waits: BatchWaits) {
    this.#free = count;
    this.#waits = waits;
  }

  /** Takes a place, after those who came before. Resolves to the function that gives it back; a second call of it does nothing. */
  async take(left: AbortSignal): Promise<() => void> {
    this.#waits.check(left);
    if (this.#free > 0) this.#free -= 1;
    else await this.#waits.hold<void>(left, (resolve) => this.#enter(resolve));
    let taken = true;
    return () => {
      if (taken) this.#giveBack();
      taken = false;
    };
  }

  /** Does the work in a place. */
  async run<T>(left: AbortSignal, work: () => Promise<T>): Promise<T> {
    const giveBack = await this.take(left);
    try {
      return await work();
    } finally {
      giveBack();
    }
  }

  #enter(resolve: () => void): () => void {
    const turn = () => resolve();
    this.#queue.add(turn);
    return () => this.#queue.delete(turn);
  }

  #giveBack(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#queue.delete(next);
    next();
  }
}
