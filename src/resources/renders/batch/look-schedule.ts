import type { PartnerClock } from "../../../util/clock.ts";
import type { BatchWaits } from "./batch-waits.ts";

/** Milliseconds by which looks may be ahead of the rate, so that few of them do not wait, and a late timer delays none. */
const ahead = 100;

/** The times of a look-up. */
export interface LookTimes {
  /** The time of the look-up by the clock. It may change while it waits. */
  readonly due: () => number;
  /** Milliseconds for which the look-up can be delayed once it is due, so that many are spread in time. */
  readonly patience: () => number;
}

interface Turn extends LookTimes {
  /** The latest time; undefined until the look-up is due. */
  latest?: number | undefined;
  readonly go: () => void;
}

/**
 * Resumes each pending render at its time, with one timer for all. Renders that are due at the same time are resumed one after the
 * other, at the rate that the service sustains, or faster if their patience requires it.
 */
export class LookSchedule {
  readonly #clock: PartnerClock;
  readonly #waits: BatchWaits;
  /** Milliseconds between two requests at the rate that the service sustains. */
  readonly #interval: () => number;
  readonly #turns = new Set<Turn>();
  /** The time for which the timer is set. */
  #armedFor = Number.POSITIVE_INFINITY;
  #disarm: () => void = () => undefined;
  /** From this time on, the rate allows the next look-up. */
  #next = Number.NEGATIVE_INFINITY;

  constructor(clock: PartnerClock, waits: BatchWaits, interval: () => number) {
    this.#clock = clock;
    this.#waits = waits;
    this.#interval = interval;
  }

  /** Waits for a time that may change: call {@link LookSchedule.changed} when it does. `onWait` is called when it is not now. */
  async turn({ due, patience }: LookTimes, left: AbortSignal, onWait: () => void): Promise<void> {
    this.#waits.check(left);
    await this.#waits.hold<void>(left, (resolve) => {
      const turn: Turn = { due, patience, go: resolve };
      this.#turns.add(turn);
      const now = this.#clock.now();
      const time = this.#timeOf(turn, now);
      if (time > now) onWait();
      if (time < this.#armedFor) this.#arm(time);
      return () => {
        this.#turns.delete(turn);
        if (this.#turns.size === 0) this.#arm(Number.POSITIVE_INFINITY);
      };
    });
  }

  /** Sets the timer for the next time. */
  changed(): void {
    const now = this.#clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const turn of this.#turns) next = Math.min(next, this.#timeOf(turn, now));
    this.#arm(next);
  }

  /** When a turn goes: not before it is due, at the rate, and at its latest time if the rate is too slow. */
  #timeOf(turn: Turn, now: number): number {
    const due = turn.due();
    if (due > now) {
      turn.latest = undefined;
      return due;
    }
    turn.latest ??= now + turn.patience();
    return Math.min(turn.latest, Math.max(now, this.#next));
  }

  #arm(time: number): void {
    if (time === this.#armedFor) return;
    this.#disarm();
    this.#disarm = () => undefined;
    this.#armedFor = time;
    if (time === Number.POSITIVE_INFINITY) return;
    const wait = time - this.#clock.now();
    if (wait <= 0) this.#fire();
    else this.#disarm = this.#clock.after(wait, () => this.#fire());
  }

  #fire(): void {
    this.#armedFor = Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    const due = [...this.#turns].filter((turn) => turn.due() <= now);
    const spacing = this.#spacing(due, now);
    for (const turn of due) {
      if (this.#timeOf(turn, now) > now) continue;
      this.#next = Math.max(this.#next, now - ahead) + spacing;
      this.#turns.delete(turn);
      turn.go();
    }
    this.changed();
  }

  /** Milliseconds between two look-ups that are due: all have their turn within their patience. */
  #spacing(due: readonly Turn[], now: number): number {
    const latest = due.reduce((time, turn) => Math.max(time, turn.latest ?? now + turn.patience()), now);
    return Math.min(this.#interval(), (latest - now) / due.length);
  }
}
