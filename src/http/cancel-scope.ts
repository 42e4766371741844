import { DeadlineError } from "../errors/connection.ts";
import { onAbort } from "../util/abort-signals.ts";
import { keepProcess, type PartnerClock } from "../util/clock.ts";
import { wordsOf } from "../util/foreign.ts";

/** Why a call that has used up its deadline fails. */
const unfinished = "the call was not finished";

interface Settlement<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/**
 * The lifetime of one call. Every step that takes time runs through {@link CancelScope.hold}, so that an abort or the deadline ends it at
 * once. {@link CancelScope.close} leaves no timer and no listener.
 */
export class CancelScope {
  readonly clock: PartnerClock;
  readonly startedAt: number;
  readonly #deadline: number | undefined;
  #ended: { readonly reason: unknown } | undefined;
  #interrupt: ((reason: unknown) => void) | undefined;
  #stopListening: (() => void) | undefined;
  #stopDeadline: (() => void) | undefined;

  constructor(clock: PartnerClock, signal: AbortSignal | undefined, deadline: number | undefined) {
    this.clock = clock;
    this.startedAt = clock.now();
    this.#deadline = deadline;
    if (signal !== undefined) this.#stopListening = onAbort(signal, (reason) => this.end(reason));
    if (deadline !== undefined && this.#ended === undefined) {
      this.#stopDeadline = clock.after(deadline, () => this.end(this.deadlineError(unfinished, undefined, 0)));
    }
  }

  /** Milliseconds since the call began. */
  elapsed(): number {
    return this.clock.now() - this.startedAt;
  }

  /** Milliseconds until the deadline; infinite without one. */
  remaining(): number {
    return this.#deadline === undefined ? Number.POSITIVE_INFINITY : this.#deadline - this.elapsed();
  }

  /** Throws the reason if the call has ended. */
  check(): void {
    if (this.#ended !== undefined) throw this.#ended.reason;
  }

  /** Whether this error ended the call: it is the caller's own reason or the deadline's error. */
  ended(error: unknown): boolean {
    return this.#ended !== undefined && this.#ended.reason === error;
  }

  /** Waits for the work that `begin` starts. `begin` returns a function that stops it; the end of the call stops it and rejects at once. */
  hold<T>(begin: (settle: Settlement<T>) => (reason: unknown) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.check();
      let stop: ((reason: unknown) => void) | undefined;
      let early: { readonly reason: unknown } | undefined;
      const interrupt = (reason: unknown) => {
        reject(reason);
        if (stop === undefined) early = { reason };
        else stop(reason);
      };
      const settled = () => {
        // A later `hold` or `guard` may be active by now.
        if (this.#interrupt === interrupt) this.#interrupt = undefined;
      };
      this.#interrupt = interrupt;
      stop = begin({
        resolve: (value) => {
          settled();
          resolve(value);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      // A hook that `begin` called may have ended the call before there was anything to stop.
      if (early !== undefined) stop((early as { readonly reason: unknown }).reason);
    });
  }

  /** Waits for a promise that cannot be stopped, at most until the call ends. */
  within<T>(promise: Promise<T>): Promise<T> {
    // If the call has ended, nothing else handles it.
    promise.catch(() => undefined);
    return this.hold<T>(({ resolve, reject }) => {
      promise.then(resolve, reject);
      return () => undefined;
    });
  }

  /** Sets a function to call when the call ends before {@link CancelScope.close}, for work that continues after the response. */
  guard(stop: (reason: unknown) => void): void {
    this.#interrupt = stop;
  }

  /** Sets whether the deadline's timer keeps the process alive. It does at first. */
  keepProcess(alive: boolean): void {
    keepProcess(this.#stopDeadline, alive);
  }

  /** Waits `ms` milliseconds. If the deadline comes first, throws at once without waiting. */
  async sleep(ms: number, why: string, cause?: unknown): Promise<void> {
    this.allow(ms, why, cause);
    await this.hold<void>(({ resolve }) => this.clock.after(ms, () => resolve()));
  }

  /** Throws when a wait of `ms` milliseconds would end after the deadline. */
  allow(ms: number, why: string, cause?: unknown): void {
    if (ms > this.remaining()) {
      throw this.deadlineError(this.remaining() > 0 ? `${why} takes ${Math.round(ms)} ms` : unfinished, cause);
    }
  }

  /** The attempt's timeout, shortened so that a look-up fits before the deadline. */
  timeoutBeforeLook(timeout: number): number {
    return Math.min(timeout, this.#remainingBeforeLook());
  }

  /** Waits `ms` milliseconds, or less when the deadline comes first. Resolves to whether it is the last wait before the deadline. */
  async sleepBeforeLook(ms: number): Promise<boolean> {
    const last = ms >= this.remaining();
    await this.sleep(last ? this.#remainingBeforeLook() : ms, "the next look-up");
    return last;
  }

  /** Milliseconds until the latest start of a look-up that ends before the deadline; infinite without a deadline. */
  #remainingBeforeLook(): number {
    const remaining = Math.max(0, this.remaining());
    return remaining - Math.min(1_000, remaining / 4);
  }

  /** Removes the listener and the deadline's timer. After this nothing ends a pending `hold`. */
  close(): void {
    this.#interrupt = undefined;
    this.#stopListening?.();
    this.#stopDeadline?.();
  }

  /** Ends the call with a reason, unless it has ended. */
  end(reason: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    this.#interrupt?.(reason);
    this.close();
  }

  /** The error of a call that cannot finish before its deadline. */
  deadlineError(why: string, cause?: unknown, remaining = this.remaining()): DeadlineError {
    const left = Math.max(0, Math.round(remaining));
    const before = cause === undefined ? "" : ` Before it: ${wordsOf(cause).split("\n")[0]}`;
    return new DeadlineError({
      message: `The call's deadline of ${Math.round(this.#deadline ?? 0)} ms is ${left > 0 ? `${left} ms away` : "over"}: ${why}.${before}`,
      cause,
    });
  }
}
