import type { PartnerClock } from "../util/clock.ts";

interface OrderQueueOptions {
  readonly clock: PartnerClock;
  /** How many orders run at a time. */
  readonly concurrency: number;
  /** The longest wait for a start, in milliseconds. */
  readonly maxWait: number;
}

interface Waiting<Result> {
  readonly result: Promise<Result>;
  readonly start: () => void;
}

/**
 * Runs work on orders: one at a time for each order, and at most `concurrency` in all, first come, first served.
 *
 * Callers share the work that has not started yet. Work that has started may have read its order too early for them, so it runs again.
 */
export class OrderQueue<Result> {
  readonly #options: OrderQueueOptions;
  readonly #waiting = new Map<string, Waiting<Result>>();
  readonly #running = new Set<string>();

  constructor(options: OrderQueueOptions) {
    this.#options = options;
  }

  /** Joins the work that waits for the order, or adds this one. If it cannot start within `maxWait`, `late` makes the result instead. */
  run(reference: string, work: () => Promise<Result>, late: () => Promise<Result>): Promise<Result> {
    const waiting = this.#waiting.get(reference);
    if (waiting !== undefined) return waiting.result;
    const { clock, maxWait } = this.#options;
    const { promise: result, resolve } = Promise.withResolvers<Result>();
    const stopTimer = clock.after(maxWait, () => {
      this.#waiting.delete(reference);
      resolve(late());
    });
    const start = () => {
      stopTimer();
      resolve(work());
    };
    this.#waiting.set(reference, { result, start });
    this.#startNext();
    return result;
  }

  /** Starts work while there is room. Skips orders that are running, which are at most `concurrency`. */
  #startNext(): void {
    for (const [reference, { result, start }] of this.#waiting) {
      if (this.#running.size >= this.#options.concurrency) return;
      if (this.#running.has(reference)) continue;
      this.#waiting.delete(reference);
      this.#running.add(reference);
      start();
      const end = () => {
        this.#running.delete(reference);
        this.#startNext();
      };
      result.then(end, end);
    }
  }
}
