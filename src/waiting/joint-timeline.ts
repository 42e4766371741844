import { PodPartnerError } from "../errors/base.ts";
import type { TimelineEntry } from "../errors/timeline.ts";
import type { ApiCall, CallResult } from "../http/call/call.ts";
import type { PartnerClock } from "../util/clock.ts";

/** One timeline of several requests, made one after the other. An error of one of them gets the whole timeline. */
export class JointTimeline {
  readonly entries: TimelineEntry[] = [];
  readonly #clock: PartnerClock;
  readonly #began: number;

  constructor(clock: PartnerClock) {
    this.#clock = clock;
    this.#began = clock.now();
  }

  /** Waits for a request, and adds what it spent its time on. */
  async add<Data>(call: ApiCall<Data>): Promise<CallResult<Data>> {
    const at = Math.round(this.#clock.now() - this.#began);
    try {
      const answer = await call.withResponse();
      this.#append(answer.timeline, at);
      return answer;
    } catch (error) {
      if (PodPartnerError.isInstance(error)) {
        this.#append(error.timeline, at);
        error.timeline = this.entries;
      }
      throw error;
    }
  }

  #append(entries: readonly TimelineEntry[], at: number): void {
    this.entries.push(...entries.map((entry) => ({ ...entry, at: entry.at + at })));
  }
}
