import { type PartnerClock, systemClock } from "../../../util/clock.ts";
import { createMetronome, type Metronome } from "./metronome.ts";

/** Calls back when the next token is due; asking again replaces what was asked before. */
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
   * Calls back in `wait` milliseconds; never when that is infinite. `interval` is how often the bucket gains a token.
   *
   * A wait of about one token goes by the metronome, which does not drift; any other by a timer, and so does each on a clock that
   * was put in the machine's place.
   */
  in(wait: number, interval: number): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    if (!Number.isFinite(wait)) this.#stopMetronome();
    else if (this.#keepsTime(wait, interval)) this.#beat(interval);
    else this.#stopTimer = this.#clock.after(Math.max(1, Math.ceil(wait)), this.#callback);
  }

  #keepsTime(wait: number, interval: number): boolean {
    if (this.#clock !== systemClock || interval < 1 || wait > interval) return false;
    return !this.#beating || this.#metronome?.interval === interval;
  }

  #beat(interval: number): void {
    if (this.#beating) return;
    if (this.#metronome?.interval !== interval) this.#metronome = createMetronome(interval);
    this.#beating = true;
    this.#metronome.beat(() => {
      this.#beating = false;
      // A beat that comes at once comes within the call above: its turn is after it.
      queueMicrotask(this.#callback);
    });
  }

  #stopMetronome(): void {
    this.#metronome?.stop();
    this.#metronome = undefined;
    this.#beating = false;
  }
}
