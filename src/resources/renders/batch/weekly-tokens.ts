import type { PartnerClock } from "../../../util/clock.ts";
import { latestTime } from "../../../util/timestamp.ts";
import type { BatchCalls } from "./calls.ts";
import type { RowWork } from "./row-work.ts";

/** Milliseconds between two reads after the reset: the clocks of the machine and the service may differ. */
const shortest = 60_000;

/**
 * The rendertokens of the week, as far as the batch knows them: read once, then counted. Without this, only a refused request would show
 * that the limit is reached. If they cannot be read, the batch goes by the service's refusals alone.
 */
export class WeeklyTokens {
  readonly #calls: BatchCalls;
  readonly #clock: PartnerClock;
  #reading: Promise<void> | undefined;
  #readAt: number | undefined;
  #resets: number | undefined;
  #used = false;
  remaining = Number.POSITIVE_INFINITY;

  constructor(calls: BatchCalls, clock: PartnerClock) {
    this.#calls = calls;
    this.#clock = clock;
  }

  /** Whether they were read, and not reset since. */
  get isKnown(): boolean {
    if (this.#readAt === undefined) return false;
    const now = this.#clock.now();
    return now < (this.#resets ?? Number.POSITIVE_INFINITY) || now < this.#readAt + shortest;
  }

  /** Whether the batch has used none since they were read, so that another read would not help. */
  get isFresh(): boolean {
    return this.isKnown && !this.#used;
  }

  /** The time of the next reset; undefined if the service did not say it. */
  get resetsAt(): Date | undefined {
    return this.#resets === undefined ? undefined : new Date(this.#resets);
  }

  /** Counts used tokens; a negative number gives them back. */
  use(tokens: number): void {
    if (tokens !== 0) this.#used = true;
    this.remaining -= tokens;
  }

  refused(cost: number, resetsAt: Date | undefined): void {
    this.remaining = Math.min(this.remaining, cost - 1);
    this.#resets = resetsAt?.getTime() ?? this.#resets;
    this.#used = false;
  }

  /** Reads them. Rows that need them at the same time share the request. */
  read(row: RowWork): Promise<void> {
    this.#reading ??= this.#read(row).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(row: RowWork): Promise<void> {
    const before = this.remaining;
    try {
      const { remaining, resets } = await this.#calls.rendertokens(row.reading());
      // What was reserved during the request counts, too.
      const meanwhile = Number.isFinite(before) ? before - this.remaining : 0;
      this.remaining = remaining - meanwhile;
      const time = latestTime(resets);
      this.#resets = Number.isFinite(time) ? time : undefined;
    } catch {
      this.remaining = Number.POSITIVE_INFINITY;
    }
    this.#readAt = this.#clock.now();
    this.#used = false;
  }
}
