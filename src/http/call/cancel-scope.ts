import { DeadlineError } from "../../errors/connection.ts";
import { keepProcess, type PartnerClock } from "../../util/clock.ts";

interface Settle<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/**
 * The life of one call. Everything in it that takes time runs through {@link CancelScope.hold}, so that an abort or the deadline
 * ends it at once, wherever it is, and {@link CancelScope.close} leaves no timer and no listener behind.
 */
export class CancelScope {
  readonly clock: PartnerClock;
  readonly startedAt: number;
  readonly #deadline: number | undefined;
  #over: { readonly reason: unknown } | undefined;
  #interrupt: ((reason: unknown) => void) | undefined;
  #stopListening: (() => void) | undefined;
  #stopDeadline: (() => void) | undefined;

  constructor(clock: PartnerClock, signal: AbortSignal | undefined, deadline: number | undefined) {
    this.clock = clock;
    this.startedAt = clock.now();
    this.#deadline = deadline;
    if (signal !== undefined) this.#listen(signal);
    if (deadline !== undefined) {
      this.#stopDeadline = clock.after(deadline, () => this.#end(this.deadlineError("it was not done", undefined, 0)));
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

  /** Throws the reason when the call is over. */
  check(): void {
    if (this.#over !== undefined) throw this.#over.reason;
  }

  /** Whether this is what ended the call: the caller's own reason or the deadline. */
  ended(error: unknown): boolean {
    return this.#over !== undefined && this.#over.reason === error;
  }

  /** Waits for what `begin` starts. It gives back how to stop that; the call's end stops it and rejects at once. */
  hold<T>(begin: (settle: Settle<T>) => (reason: unknown) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.check();
      let settled = false;
      let stop: (reason: unknown) => void = () => undefined;
      const once =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          // What comes after the end belongs to nobody, and must not touch what is held or guarded by then.
          if (settled) return;
          settled = true;
          if (this.#interrupt === interrupt) this.#interrupt = undefined;
          settle(value);
        };
      const settle = { resolve: once(resolve), reject: once(reject) };
      const interrupt = (reason: unknown) => {
        settle.reject(reason);
        stop(reason);
      };
      this.#interrupt = interrupt;
      stop = begin(settle);
    });
  }

  /** Waits for something that cannot be stopped, and no longer than the call lasts. */
  within<T>(promise: Promise<T>): Promise<T> {
    return this.hold<T>(({ resolve, reject }) => {
      promise.then(resolve, reject);
      return () => undefined;
    });
  }

  /** Has `stop` called when the call ends before {@link CancelScope.close}: for what goes on after the call has its answer. */
  guard(stop: (reason: unknown) => void): void {
    this.#interrupt = stop;
  }

  /** Whether the deadline keeps the process alive, as it does at first: not where nobody waits for anything. */
  keepProcess(alive: boolean): void {
    keepProcess(this.#stopDeadline, alive);
  }

  /** Waits `ms` milliseconds. When the deadline would come first it throws now: waiting for it would be of no use. */
  async sleep(ms: number, why: string, cause?: unknown): Promise<void> {
    this.allow(ms, why, cause);
    await this.hold<void>(({ resolve }) => this.clock.after(ms, () => resolve()));
  }

  /** Throws when a wait of `ms` milliseconds would end after the deadline. */
  allow(ms: number, why: string, cause?: unknown): void {
    if (ms > this.remaining()) {
      throw this.deadlineError(`${why} takes ${Math.round(ms)} ms`, cause);
    }
  }

  /** The part of an attempt's timeout that leaves time for a look-up before the deadline. */
  timeoutBeforeLook(timeout: number): number {
    return Math.min(timeout, this.#remainingBeforeLook());
  }

  /** Waits `ms` milliseconds, or less when the deadline comes first. Resolves to whether it is the last wait before the deadline. */
  async sleepBeforeLook(ms: number): Promise<boolean> {
    const last = ms >= this.remaining();
    await this.sleep(last ? this.#remainingBeforeLook() : ms, "the next look-up");
    return last;
  }

  /** Milliseconds until a look-up has to begin that shall end before the deadline; infinite without a deadline. */
  #remainingBeforeLook(): number {
    const remaining = Math.max(0, this.remaining());
    return remaining - Math.min(1_000, remaining / 4);
  }

  /** Lets go of the signal and the deadline. What is still held after this is ended by nothing else. */
  close(): void {
    this.#interrupt = undefined;
    this.#stopListening?.();
    this.#stopDeadline?.();
  }

  #listen(signal: AbortSignal): void {
    if (signal.aborted) this.#over = { reason: signal.reason };
    const onAbort = () => this.#end(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#stopListening = () => signal.removeEventListener("abort", onAbort);
  }

  #end(reason: unknown): void {
    if (this.#over !== undefined) return;
    this.#over = { reason };
    this.#interrupt?.(reason);
    this.close();
  }

  /** The error of a call that cannot be done before its deadline. */
  deadlineError(why: string, cause?: unknown, remaining = this.remaining()): DeadlineError {
    const left = Math.max(0, Math.round(remaining));
    return new DeadlineError({
      message: `The call's deadline of ${Math.round(this.#deadline ?? 0)} ms is ${left > 0 ? `${left} ms away` : "over"}: ${why}.`,
      cause,
    });
  }
}
