import { AsyncResource } from "node:async_hooks";
import type { CallTrace } from "../../http/tracing.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { runIn, type Surroundings } from "./platform.ts";

/** What an operation of a life that is over resolves to: never. */
export const never = new Promise<never>(() => {});

/** Who follows what a life does. */
export interface LifeWatch {
  /** Gets an error that ends it, as it would end a process. */
  readonly onCrash: (error: unknown) => void;
  /** Gets each call of a client that begins, and each that fails. */
  readonly onCall?: ((call: CallTrace) => void) | undefined;
  readonly onCallFailed?: ((call: CallTrace) => void) | undefined;
  /** Gets each time for which it waits, in milliseconds. */
  readonly onWait?: ((ms: number) => void) | undefined;
}

/** One life of a program: from its start until it is killed, or until its run ends. It is a process in all that the program can see. */
export class Life implements Surroundings {
  /** Which one of the programs it is, from 0 on. */
  readonly program: number;
  /** Counts the lives of the program from 1. */
  readonly number: number;
  readonly random: () => number;
  readonly clock: PartnerClock;
  /** Resolves when it is over. */
  readonly end: Promise<void>;
  readonly #resolveEnd: () => void;
  #isOver = false;
  readonly #base: PartnerClock;
  readonly #watch: LifeWatch;
  /** It stands still before this time. */
  #suspendedUntil = 0;

  constructor(program: number, number: number, base: PartnerClock, random: () => number, watch: LifeWatch) {
    this.program = program;
    this.number = number;
    this.random = random;
    this.#base = base;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.end = promise;
    this.#resolveEnd = resolve;
    this.#watch = watch;
    this.clock = { now: base.now, after: (ms, callback) => this.#after(ms, AsyncResource.bind(callback)) };
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Runs code of the program. */
  run<T>(work: () => T): T {
    return runIn(this, work);
  }

  /** Nothing that it waits for comes any more. What it has sent is under way. */
  kill(): void {
    this.#isOver = true;
    this.#resolveEnd();
  }

  /** An error ends it that nothing in it caught. After its end, none matters. */
  readonly crash = (error: unknown): void => {
    if (this.#isOver) return;
    this.#watch.onCrash(error);
    this.kill();
  };

  readonly onCall = (call: CallTrace): void => {
    if (!this.#isOver) this.#watch.onCall?.(call);
  };

  readonly onCallFailed = (call: CallTrace): void => {
    if (!this.#isOver) this.#watch.onCallFailed?.(call);
  };

  readonly onWait = (ms: number): void => {
    if (!this.#isOver) this.#watch.onWait?.(ms);
  };

  /** Its timers and responses wait. The time and all others go on. */
  suspend(ms: number): void {
    this.#suspendedUntil = Math.max(this.#suspendedUntil, this.#base.now() + ms);
  }

  /** Resolves when the program may see what comes next: later for one that stands still, and never for one that was killed. */
  async turn(): Promise<void> {
    while (!this.#isOver && this.#left > 0) {
      await new Promise<void>((resolve) => void this.#base.after(this.#left, resolve));
    }
    if (this.#isOver) await never;
  }

  get #left(): number {
    return this.#suspendedUntil - this.#base.now();
  }

  #after(ms: number, callback: () => void): () => void {
    const fire = () => {
      if (this.#isOver) return;
      if (this.#left > 0) stop = this.#base.after(this.#left, fire);
      else {
        try {
          callback();
        } catch (error) {
          this.crash(error);
        }
      }
    };
    let stop = this.#base.after(ms, fire);
    return () => stop();
  }
}
