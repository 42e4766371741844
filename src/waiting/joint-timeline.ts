import { PodPartnerError, type TimelineEntry } from "../errors/base.ts";
import type { ApiCall, CallResult } from "../http/send.ts";
import type { PartnerClock } from "../util/clock.ts";

/** Joins the timelines of several sequential requests. An error of one request gets the joint timeline. */
export class JointTimeline {
  readonly entries: TimelineEntry[] = [];
  readonly #clock: PartnerClock;
  readonly #began: number;

  constructor(clock: PartnerClock) {
    this.#clock = clock;
    this.#began = clock.now();
  }

  /** Waits for a request and appends its timeline. */
  async add<Data>(call: ApiCall<Data>): Promise<CallResult<Data>> {
    const at = Math.round(this.#clock.now() - this.#began);
    try {
      const result = await call.withResponse();
      this.#append(result.timeline, at);
      return result;
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
