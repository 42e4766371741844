import { setImmediate } from "node:timers/promises";

interface Timer {
  due: number;
  /** Whether it waits for a span, not for a point in time. */
  readonly isWait: boolean;
  readonly callback: () => void;
  /** Whether a caller waits for it. It is false for the emulator's own tasks. */
  foreground: boolean;
}

/** Lets promises settle: the first turn of the event loop runs what is scheduled, the second what the first one schedules. */
export async function settle(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** Timers by the time at which they are due. */
export class Timers {
  readonly #timers = new Set<Timer>();

  /** The number of timers that a caller waits for. */
  get foreground(): number {
    let count = 0;
    for (const timer of this.#timers) if (timer.foreground) count += 1;
    return count;
  }

  /** Adds a timer. Returns a function that cancels it. `keepProcess` sets whether a caller waits for it, as with the system clock. */
  add(due: number, callback: () => void, foreground = true): () => void {
    const timer = { due, callback, foreground, isWait: foreground };
    this.#timers.add(timer);
    const cancel = () => void this.#timers.delete(timer);
    cancel.keep = (alive: boolean) => {
      timer.foreground = alive;
    };
    return cancel;
  }

  /** Moves the waits of callers, when the time is set: what remains of each stays the same. */
  shift(by: number): void {
    for (const timer of this.#timers) if (timer.isWait) timer.due += by;
  }

  /** The time of the next timer; undefined without a timer. */
  next(): number | undefined {
    return this.#first()?.due;
  }

  /** Removes the next timer that is due by `until`, and returns it. */
  take(until: number): Timer | undefined {
    const timer = this.#first();
    if (timer === undefined || timer.due > until) return undefined;
    this.#timers.delete(timer);
    return timer;
  }

  #first(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) if (first === undefined || timer.due < first.due) first = timer;
    return first;
  }
}
