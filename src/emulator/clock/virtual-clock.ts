import type { PartnerClock } from "../../util/clock.ts";
import { settle, Timers } from "./timers.ts";

/** Milliseconds of real time in which a program that waits for nothing virtual may read a file. */
const patience = 1_000;

/** Whether the process reads or writes a file, which takes real time. */
export const usesFiles = (): boolean => process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"));

/** A clock that jumps from one timer to the next. */
export class VirtualClock implements PartnerClock {
  #timers = new Timers();
  #now = 0;
  readonly #work = new Set<Promise<unknown>>();
  #released = Promise.withResolvers<void>();

  readonly now = (): number => this.#now;
  readonly after = (ms: number, callback: () => void): (() => void) =>
    this.#timers.add(this.#now + Math.max(ms, 0), callback);
  readonly sleep = (ms: number): Promise<void> => new Promise((resolve) => void this.after(ms, resolve));

  /** Sets the time. Timers are gone. */
  reset(time: number): void {
    this.#timers = new Timers();
    this.#now = time;
    this.release();
  }

  /** The time of the next timer that a caller waits for. */
  nextAwaited(): number | undefined {
    return this.#timers.nextAwaited();
  }

  /** Stops the time until the work ends. Work that waits for this clock must call `release`. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    const done = () => void this.#work.delete(work);
    work.then(done, done);
    return work;
  }

  /** Lets the time pass before the work ends. */
  release(): void {
    this.#work.clear();
    this.#released.resolve();
    this.#released = Promise.withResolvers();
  }

  /**
   * Lets the time pass until `isDone`, but not beyond `limit`. Resolves to false if it was not done: the time was up, or for a second of real
   * time nothing was due any more.
   */
  async passUntil(isDone: () => boolean, limit: number): Promise<boolean> {
    for (;;) {
      await this.pass(limit, isDone);
      if (isDone()) return true;
      if (this.#timers.next() !== undefined || !(await this.#waitForFiles(isDone))) return false;
    }
  }

  /** Lets the time pass until `limit`, or until `isDone`, or until nothing is due any more. */
  async pass(limit: number, isDone = () => false): Promise<void> {
    for (;;) {
      await this.#settle();
      if (isDone()) return;
      const timer = this.#timers.take(limit);
      if (timer === undefined) return;
      this.#now = Math.max(this.#now, timer.due);
      timer.callback();
    }
  }

  async #settle(): Promise<void> {
    await settle();
    while (this.#work.size > 0 || usesFiles()) {
      await Promise.race([Promise.allSettled(this.#work), this.#released.promise]);
      await settle();
    }
  }

  /** Waits until something real has led to a timer. Resolves to false if nothing did. */
  async #waitForFiles(isDone: () => boolean): Promise<boolean> {
    const until = process.hrtime.bigint() + BigInt(patience) * 1_000_000n;
    while (process.hrtime.bigint() < until) {
      await settle();
      if (isDone() || this.#timers.next() !== undefined) return true;
    }
    return false;
  }
}
