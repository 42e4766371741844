import type { TimelineEntry } from "../errors/timeline.ts";
import type { PartnerClock } from "../util/clock.ts";

/** Records the steps of a call and their durations. */
export class TimelineRecorder {
  readonly entries: TimelineEntry[] = [];
  readonly #clock: PartnerClock;
  readonly #startedAt: number;

  constructor(clock: PartnerClock) {
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /** Begins a step. Call the returned function with the outcome when the step ends. */
  begin(step: TimelineEntry["step"]): (outcome: string) => void {
    const began = this.#clock.now();
    return (outcome) => {
      const took = this.#clock.now() - began;
      this.entries.push({ step, at: round(began - this.#startedAt), took: round(took), outcome });
    };
  }
}

const round = (ms: number) => Math.round(ms * 10) / 10;
