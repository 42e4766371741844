import { onAbort } from "../../../util/abort-signals.ts";
import type { PartnerClock } from "../../../util/clock.ts";

/** Stops what a wait has begun. */
type Stop = () => void;

/**
 * The waits of a batch. The caller's signal ends all of them, and the signal of a row those of the row. However many rows wait, the
 * caller's signal has one listener.
 */
export class BatchWaits {
  readonly #clock: PartnerClock;
  readonly #signal: AbortSignal | undefined;
  readonly #failures = new Set<(reason: unknown) => void>();
  #stopListening: Stop | undefined;

  constructor(clock: PartnerClock, signal: AbortSignal | undefined) {
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Throws the reason if the batch or the row has ended. */
  check(left: AbortSignal): void {
    if (left.aborted) throw left.reason;
    if (this.#signal?.aborted) throw this.#signal.reason;
  }

  /** Waits until `begin` resolves. `begin` returns what to stop when the batch or the row ends first. */
  hold<T>(left: AbortSignal, begin: (resolve: (value: T) => void) => Stop): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.check(left);
      let stop: Stop = () => undefined;
      const end = () => {
        stopLeft();
        this.#remove(fail);
      };
      const fail = (reason: unknown) => {
        stop();
        end();
        reject(reason);
      };
      const stopLeft = onAbort(left, fail);
      this.#add(fail);
      stop = begin((value) => {
        end();
        resolve(value);
      });
    });
  }

  /** Waits `ms` milliseconds. */
  sleep(left: AbortSignal, ms: number): Promise<void> {
    return this.hold<void>(left, (resolve) => this.#clock.after(ms, () => resolve()));
  }

  /** Waits for a promise, which goes on when the row ends first. */
  within<T>(left: AbortSignal, promise: Promise<T>): Promise<T> {
    const settled = promise.then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    return this.hold<() => T>(left, (resolve) => {
      settled.then(resolve);
      return () => undefined;
    }).then((read) => read());
  }

  #add(fail: (reason: unknown) => void): void {
    this.#failures.add(fail);
    if (this.#signal === undefined || this.#stopListening !== undefined) return;
    this.#stopListening = onAbort(this.#signal, (reason) => {
      for (const each of [...this.#failures]) each(reason);
    });
  }

  #remove(fail: (reason: unknown) => void): void {
    this.#failures.delete(fail);
    if (this.#failures.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }
}
