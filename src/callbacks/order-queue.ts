import type { PartnerClock } from "../util/clock.ts";

/** How an {@link OrderQueue} works. */
export interface OrderQueueOptions<Result> {
  readonly clock: PartnerClock;
  /** How many orders are in work at a time. */
  readonly concurrency: number;
  /** Milliseconds that work waits until it starts. Then it resolves to `late`. */
  readonly maxWait: number;
  readonly late: Result;
}

interface Waiting<Result> {
  readonly result: Promise<Result>;
  readonly start: () => void;
}

/**
 * Runs work on orders: one at a time for each order, and at most `concurrency` in all, in the order of arrival.
 *
 * The work reads its order when it starts. Callers that come before that share it. A caller that comes later may know of something newer:
 * those share the next work on the order.
 */
export class OrderQueue<Result> {
  readonly #options: OrderQueueOptions<Result>;
  readonly #waiting = new Map<string, Waiting<Result>>();
  readonly #running = new Set<string>();

  constructor(options: OrderQueueOptions<Result>) {
    this.#options = options;
  }

  /** Joins the work that waits for the order, or lets this one wait. */
  run(reference: string, work: () => Promise<Result>): Promise<Result> {
    const { result } = this.#waiting.get(reference) ?? this.#add(reference, work);
    this.#startNext();
    return result;
  }

  #add(reference: string, work: () => Promise<Result>): Waiting<Result> {
    const { clock, maxWait, late } = this.#options;
    const { promise: result, resolve } = Promise.withResolvers<Result>();
    const stopTimer = clock.after(maxWait, () => {
      this.#waiting.delete(reference);
      resolve(late);
    });
    const start = () => {
      stopTimer();
      this.#running.add(reference);
      const end = () => {
        this.#running.delete(reference);
        this.#startNext();
      };
      resolve(work().finally(end));
    };
    const waiting = { result, start };
    this.#waiting.set(reference, waiting);
    return waiting;
  }

  /** Starts work while there is room. It skips at most as many orders as are in work. */
  #startNext(): void {
    for (const [reference, { start }] of this.#waiting) {
      if (this.#running.size >= this.#options.concurrency) return;
      if (this.#running.has(reference)) continue;
      this.#waiting.delete(reference);
      start();
    }
  }
}
