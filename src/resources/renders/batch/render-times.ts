import { latestTime } from "../../../util/timestamp.ts";
import type { Render } from "../renders.schema.ts";

/** The number of the latest renders whose times count. */
const most = 32;
/** The part of the renders that should be completed at their first look-up. */
const part = 0.95;

/** Milliseconds after the time of a render. Timestamps may be rounded to seconds. */
function marginOf(time: number): number {
  if (time === 0) return 0;
  return time % 1_000 === 0 ? 1_000 : 250;
}

/** Learns how long renders take, so that most are looked up once, when they are completed. */
export class RenderTimes {
  readonly #times: number[] = [];
  /** Undefined until a render was completed. */
  #firstLook: number | undefined;
  /** The longest time that a pending render seemed to need, before any was completed. */
  #longest = 0;

  /** Whether a render was completed. */
  get isLearnt(): boolean {
    return this.#firstLook !== undefined;
  }

  /** Milliseconds from the creation of a render to its first look-up. Before any was completed, at least `unknown`. */
  firstLook(unknown: number): number {
    return this.#firstLook ?? Math.max(unknown, this.#longest);
  }

  /** A render was completed. The service's own timestamps show its time, without the time until it was looked up. */
  completed({ created, completed }: Render, age: number): void {
    const time = completed ? latestTime(completed) - latestTime(created) : Number.NaN;
    this.#add(Number.isFinite(time) ? Math.max(0, time) : age);
  }

  /** A render of this age was pending. `retryAfter` is the time that the service gave, in milliseconds. */
  pending(age: number, retryAfter = 0): void {
    const likely = age + Math.max(retryAfter, age / 2);
    this.#longest = Math.max(this.#longest, likely);
    if (this.isLearnt) this.#add(likely);
  }

  #add(time: number): void {
    this.#times.push(time);
    if (this.#times.length > most) this.#times.shift();
    const sorted = this.#times.toSorted((one, other) => one - other);
    const longest = sorted[Math.ceil(part * sorted.length) - 1] ?? 0;
    this.#firstLook = longest * 1.01 + marginOf(longest);
  }
}
