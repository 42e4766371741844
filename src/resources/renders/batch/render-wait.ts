import type { TimelineEntry } from "../../../errors/timeline.ts";
import type { PartnerClock } from "../../../util/clock.ts";
import type { RenderEntry } from "./entries.ts";
import type { RenderTimes } from "./render-times.ts";
import type { RowWork } from "./row-work.ts";

/** Milliseconds before the next request for a file if the response has no `Retry-After`. */
const unsaid = 5_000;
/** Minimum milliseconds between two requests for a file. */
const shortest = 1_000;
/** The parts of a render's age, and of the interval, by which its look-up can be delayed. */
const part = { age: 1 / 6, interval: 1 / 4 };

/** The wait for one render: when it is looked up, and how. */
export class RenderWait {
  readonly #clock: PartnerClock;
  readonly #times: RenderTimes;
  readonly #entry: RenderEntry;
  readonly #interval: number;
  readonly #began: number;
  readonly #lastLook: number;
  #notBefore: number;
  #statusAt: number;
  #byFile = false;
  /** The number of look-ups that found it pending. */
  looks = 0;
  /** Whether it is looked up before its time, by its file, to learn the time of all. */
  probes = false;
  /** The steps of the last request. */
  timeline: readonly TimelineEntry[] = [];

  constructor(clock: PartnerClock, times: RenderTimes, entry: RenderEntry, row: RowWork) {
    this.#clock = clock;
    this.#times = times;
    this.#entry = entry;
    this.#interval = row.interval;
    this.#began = clock.now();
    const time = row.waitTime();
    // Time for the response to the last look-up.
    this.#lastLook = this.#began + time - Math.min(1_000, time / 4);
    this.#notBefore = this.#began;
    this.#statusAt = entry.created;
  }

  /** Milliseconds since the render was created. */
  get age(): number {
    return this.#clock.now() - this.#entry.created;
  }

  /** Milliseconds since the wait began. */
  get waited(): number {
    return this.#clock.now() - this.#began;
  }

  /** Whether a look-up now is the last one before the deadline. */
  get isLast(): boolean {
    return this.#clock.now() >= this.#lastLook;
  }

  /** Whether the next look-up requests the file. The status shows whether the render failed, but at its interval only. */
  get asksForFile(): boolean {
    if (this.#byFile) return true;
    return this.probes && this.#clock.now() < this.#statusAt + this.#interval;
  }

  /** The time of the next look-up. It changes with the times of other renders, until the first look-up. */
  readonly due = (): number => {
    const first = this.looks === 0 && !this.probes;
    const time = first ? this.#entry.created + this.#times.firstLook(this.#interval) : this.#notBefore;
    return Math.min(time, this.#lastLook);
  };

  /** Milliseconds by which a look-up can be delayed, so that those of many renders are spread in time. All wait for the probed one. */
  readonly patience = (): number => {
    if (this.probes) return 0;
    const spread = Math.min(this.age * part.age, this.#interval * part.interval);
    return Math.max(0, Math.min(spread, this.#lastLook - this.#clock.now()));
  };

  /** The status was pending. With `responses: "report"` it may be unknown: then the file decides. */
  pending(isKnown: boolean): void {
    this.#statusAt = this.#clock.now();
    this.#byFile = !isKnown;
    this.#times.pending(this.age);
    this.#again(this.probes ? this.#doubled() : this.#interval * 2 ** this.looks);
  }

  /** The file was not ready. A `Retry-After` that is too short is followed by longer waits. */
  notReady(retryAfter: number | undefined): void {
    this.#times.pending(this.age, retryAfter);
    this.#again(Math.max(retryAfter ?? unsaid, this.#doubled()));
  }

  #doubled(): number {
    return Math.max(shortest, Math.min(this.age, this.#interval));
  }

  #again(ms: number): void {
    this.looks += 1;
    this.#notBefore = this.#clock.now() + ms;
  }
}
