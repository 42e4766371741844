import type { WorldClock } from "../clock/emulator-clock.ts";

/** The number of time-outs, one after the other, for which one move of the clock waits. Time-outs at the same time count as one. */
const waits = 3;

interface Silence {
  count: number;
  /** When the last counted time-out ended, by the clock of the connection. */
  until: number;
}

/**
 * The receivers that did not respond while the clock moves. A move of three days has 864 tries of one callback: to wait for each time-out
 * would take hours.
 */
export class SilentReceivers {
  readonly #clock: WorldClock;
  readonly #silences = new Map<string, Silence>();
  #move = 0;

  constructor(clock: WorldClock) {
    this.#clock = clock;
  }

  /** Whether the rest of this move does not call the receiver. Each move starts anew. */
  isSkipped(url: string): boolean {
    const { current } = this.#clock.moves;
    if (current !== this.#move) this.#silences.clear();
    this.#move = current;
    return this.#move !== 0 && (this.#silences.get(new URL(url).origin)?.count ?? 0) >= waits;
  }

  /** Notes the end of a try that began at `begun`, by the clock of the connection. */
  note(url: string, begun: number, timedOut: boolean): void {
    const { origin } = new URL(url);
    const { count, until } = this.#silences.get(origin) ?? { count: 0, until: begun };
    if (!timedOut) this.#silences.delete(origin);
    else if (begun >= until) this.#silences.set(origin, { count: count + 1, until: this.#clock.wire.now() });
  }
}
