import { type PartnerClock, systemClock } from "../../../util/clock.ts";
import { createMetronome, type Metronome } from "./metronome.ts";

/** Calls back when the next token is due. A new request to call back replaces the one before. */
export class WakeUp {
  readonly #clock: PartnerClock;
  readonly #callback: () => void;
  #metronome: Metronome | undefined;
  #beating = false;
  #stopTimer: (() => void) | undefined;

  constructor(clock: PartnerClock, callback: () => void) {
    this.#clock = clock;
    this.#callback = callback;
  }

  /**
   * Calls back in `wait` milliseconds; never when that is infinite. `interval` is the time in which the bucket gains a token.
   *
   * A wait of at most one token uses the metronome, which does not drift. Any other wait uses a timer, and so does every wait on a clock
   * other than the system's.
   */
  in(wait: number, interval: number): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    if (!Number.isFinite(wait)) this.#stopMetronome();
    else if (this.#usesMetronome(wait, interval)) this.#beat(interval);
    else this.#stopTimer = this.#clock.after(Math.max(1, Math.ceil(wait)), this.#callback);
  }

  #usesMetronome(wait: number, interval: number): boolean {
    if (this.#clock !== systemClock || interval < 1 || wait > interval) return false;
    return !this.#beating || this.#metronome?.interval === interval;
  }

  #beat(interval: number): void {
    if (this.#beating) return;
    if (this.#metronome?.interval !== interval) this.#metronome = createMetronome(interval);
    this.#beating = true;
    this.#metronome.beat(() => {
      this.#beating = false;
      // The first beat comes within the call above: the callback runs after that call.
      queueMicrotask(this.#callback);
    });
  }

  #stopMetronome(): void {
    this.#metronome?.stop();
    this.#metronome = undefined;
    this.#beating = false;
  }
}
