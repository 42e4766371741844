import type { PartnerClock } from "../../../util/clock.ts";
import type { BatchWaits } from "./batch-waits.ts";

interface Turn {
  /** The time of the look-up by the clock. It may change while the turn waits. */
  readonly due: () => number;
  readonly go: () => void;
}

/** Resumes each pending render at its time, with one timer for all. */
export class LookSchedule {
  readonly #clock: PartnerClock;
  readonly #waits: BatchWaits;
  readonly #turns = new Set<Turn>();
  /** The time for which the timer is set. */
  #armedFor = Number.POSITIVE_INFINITY;
  #disarm: () => void = () => undefined;

  constructor(clock: PartnerClock, waits: BatchWaits) {
    this.#clock = clock;
    this.#waits = waits;
  }

  /** Waits for a time that may change: call {@link LookSchedule.changed} when it does. */
  async turn(due: () => number, left: AbortSignal): Promise<void> {
    this.#waits.check(left);
    if (due() <= this.#clock.now()) return;
    await this.#waits.hold<void>(left, (resolve) => {
      const turn = { due, go: resolve };
      this.#turns.add(turn);
      if (due() < this.#armedFor) this.#arm(due());
      return () => {
        this.#turns.delete(turn);
        if (this.#turns.size === 0) this.#arm(Number.POSITIVE_INFINITY);
      };
    });
  }

  /** Sets the timer for the next time. */
  changed(): void {
    let next = Number.POSITIVE_INFINITY;
    for (const { due } of this.#turns) next = Math.min(next, due());
    this.#arm(next);
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
    for (const turn of [...this.#turns]) {
      if (turn.due() > now) continue;
      this.#turns.delete(turn);
      turn.go();
    }
    this.changed();
  }
}
