import type { PartnerClock } from "../util/clock.ts";

/** How {@link Rounds} runs its work. */
export interface RoundsOptions<Input, Result> {
  readonly clock: PartnerClock;
  /** How many rounds run at a time. */
  readonly concurrency: number;
  /** Milliseconds that a round waits for its turn. Then it resolves with the result of `onLate`. */
  readonly maxWait: number;
  readonly onLate: () => Result;
  readonly work: (input: Input) => Promise<Result>;
}

interface Round<Input, Result> {
  readonly input: Input;
  readonly result: Promise<Result>;
  readonly settle: (result: Result | PromiseLike<Result>) => void;
  readonly stopWaiting: () => void;
}

/**
 * Runs work in rounds: one at a time for each key, and at most `concurrency` for all keys, in the order of arrival.
 *
 * Callers that join before a round starts share it. The work reads the state of its key when it starts, so a caller that joins later may
 * know of a newer state: later callers share one next round.
 */
export class Rounds<Input, Result> {
  readonly #options: RoundsOptions<Input, Result>;
  readonly #waiting = new Map<string, Round<Input, Result>>();
  readonly #running = new Set<string>();

  constructor(options: RoundsOptions<Input, Result>) {
    this.#options = options;
  }

  /** Joins the waiting round of the key, or opens one with this input. Resolves with the round's result. */
  join(key: string, input: Input): Promise<Result> {
    const round = this.#waiting.get(key) ?? this.#open(key, input);
    this.#startNext();
    return round.result;
  }

  /** Whether no round of the key is running or waiting: then the next one starts at once, with its own input. */
  isIdle(key: string): boolean {
    return !this.#running.has(key) && !this.#waiting.has(key);
  }

  #open(key: string, input: Input): Round<Input, Result> {
    const { clock, maxWait, onLate } = this.#options;
    const { promise: result, resolve: settle } = Promise.withResolvers<Result>();
    const stopWaiting = clock.after(maxWait, () => {
      this.#waiting.delete(key);
      settle(onLate());
    });
    const round = { input, result, settle, stopWaiting };
    this.#waiting.set(key, round);
    return round;
  }

  /** Starts rounds while there is room. It skips at most as many keys as there are running rounds. */
  #startNext(): void {
    for (const [key, round] of this.#waiting) {
      if (this.#running.size >= this.#options.concurrency) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      round.stopWaiting();
      round.settle(this.#run(key, round.input));
    }
  }

  async #run(key: string, input: Input): Promise<Result> {
    this.#running.add(key);
    try {
      return await this.#options.work(input);
    } finally {
      this.#running.delete(key);
      this.#startNext();
    }
  }
}
