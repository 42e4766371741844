import { setTimeout as sleep } from "node:timers/promises";
import { keepProcess, type PartnerClock } from "../../util/clock.ts";
import { defaultStart } from "./manual-clock.ts";
import { toMilliseconds } from "./point-in-time.ts";
import { usesFiles, VirtualClock } from "./virtual-clock.ts";

/** Turns of the event loop, each of a millisecond at least, in which nothing happens before the time jumps. */
const quietTurns = 10;
/** Before the first jump: the first call loads modules, which takes real time. */
const firstTurns = 100;
/** Milliseconds of real time that the receiver of a callback has. */
const patience = 1_000;

/** A clock that jumps to its next timer by itself, when those who use it only wait for it. */
export class SkippingClock implements PartnerClock {
  readonly #clock = new VirtualClock();
  #isSkipping = false;
  #turns = firstTurns;
  /** Whether a timer was set, canceled or done since the last quiet time. */
  #hasActed = false;

  constructor() {
    this.#clock.reset(toMilliseconds(defaultStart));
  }

  readonly now = this.#clock.now;

  readonly after = (ms: number, callback: () => void): (() => void) => {
    this.#hasActed = true;
    const cancel = this.#clock.after(ms, () => this.#fire(callback));
    void this.#skip();
    const stop = () => {
      this.#hasActed = true;
      cancel();
    };
    const keep = (alive: boolean) => {
      keepProcess(cancel, alive);
      void this.#skip();
    };
    return Object.assign(stop, { keep });
  };

  /** Stops the time until the work ends, for a second of real time at most. */
  track(work: Promise<unknown>): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, patience);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    work.then(done, done);
    void this.#clock.track(promise);
  }

  #fire(callback: () => void): void {
    const hadActed = this.#hasActed;
    this.#hasActed = false;
    callback();
    // A timer that only sets the next one, such as a heartbeat, starts nothing that takes real time.
    this.#hasActed = hadActed || !this.#hasActed;
  }

  async #skip(): Promise<void> {
    if (this.#isSkipping) return;
    this.#isSkipping = true;
    try {
      while (this.#clock.nextAwaited() !== undefined) {
        await this.#quiet();
        const next = this.#clock.nextAwaited();
        if (next !== undefined) await this.#clock.pass(next, () => this.#hasActed);
      }
    } finally {
      this.#isSkipping = false;
    }
  }

  async #quiet(): Promise<void> {
    while (this.#hasActed) {
      this.#hasActed = false;
      for (let turn = 0; turn < this.#turns; turn += 1) {
        await sleep(1);
        if (usesFiles()) this.#hasActed = true;
      }
    }
    this.#turns = quietTurns;
  }
}
