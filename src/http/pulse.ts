import { longestSince, type Moment, momentOf, type PartnerClock } from "../util/clock.ts";

/** Milliseconds between two beats. */
const beat = 250;
/** A beat this many milliseconds late shows that the process was suspended or its thread blocked. */
const lateAfter = 50;

/**
 * Knows when this process last ran while it waits for a response. A response that arrives while the process is suspended is read after
 * that, and is older than it seems.
 */
export class Pulse {
  readonly #clock: PartnerClock;
  /** How much work waits now. One timer beats for all of it. */
  #waiting = 0;
  #latest: Moment;
  #stop: () => void = () => undefined;

  constructor(clock: PartnerClock) {
    this.#clock = clock;
    this.#latest = momentOf(clock);
  }

  /** Runs `work`, and records when the process last ran before it ended. */
  async during<T>(work: () => Promise<T>, record: (latest: Moment) => void): Promise<T> {
    if (this.#waiting === 0) this.#run();
    this.#waiting += 1;
    const began = momentOf(this.#clock);
    try {
      return await work();
    } finally {
      record(this.#latest.at > began.at ? this.#latest : began);
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#stop();
    }
  }

  #run(): void {
    this.#latest = momentOf(this.#clock);
    this.#stop = this.#clock.after(beat, () => {
      // Timers run before responses that have arrived are read. The next timer runs after that.
      const isLate = longestSince(this.#latest, this.#clock) > beat + lateAfter;
      if (isLate) this.#stop = this.#clock.after(1, () => this.#run());
      else this.#run();
    });
  }
}
