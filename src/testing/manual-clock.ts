import { setImmediate } from "node:timers/promises";
import type { PartnerClock } from "../util/clock.ts";

/** A clock that stands still until it is told to move. */
export interface ManualClock extends PartnerClock {
  /** How many timers wait: 0 when nothing was left behind. */
  readonly pending: number;
  /** Moves on by `ms` milliseconds, running each timer at its own time and letting promises settle after it. */
  advance(ms: number): Promise<void>;
  /** Moves on to a point in time, as `advance` does. It never runs backwards. */
  set(time: Date | string | number): Promise<void>;
}

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

/** Where a manual clock starts when it is not told: a Monday morning. */
const defaultStart = "2026-11-02T09:00:00.000Z";

const toMilliseconds = (time: Date | string | number): number => {
  const ms = new Date(time).getTime();
  if (Number.isNaN(ms)) throw new RangeError(`Not a point in time: ${String(time)}`);
  return ms;
};

/**
 * Makes a clock that only moves when you say so, for the client's `clock` and for the emulator's: tests never sleep.
 *
 * @param start A date, an ISO 8601 text, or milliseconds since 1970. Default: 2026-11-02T09:00:00Z, a Monday.
 * @example
 * const clock = createManualClock();
 * const emulator = createEmulator({ clock });
 * await clock.advance(5_000); // renders asked for before are completed now
 */
export function createManualClock(start: Date | string | number = defaultStart): ManualClock {
  let now = toMilliseconds(start);
  const timers = new Set<Timer>();

  // Two turns of the event loop: one for what is already scheduled, one for what that schedules in its turn.
  const settle = async () => {
    await setImmediate();
    await setImmediate();
  };

  const nextDue = (until: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.due <= until && (next === undefined || timer.due < next.due)) next = timer;
    }
    return next;
  };

  const moveTo = async (until: number) => {
    if (!(until >= now)) throw new RangeError("A clock never runs backwards");
    await settle();
    for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
      timers.delete(timer);
      now = Math.max(now, timer.due);
      timer.callback();
      await settle();
    }
    now = Math.max(now, until);
    await settle();
  };

  return {
    now: () => now,
    after: (ms, callback) => {
      const timer = { due: now + Math.max(ms, 0), callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    get pending() {
      return timers.size;
    },
    advance: (ms) => moveTo(now + ms),
    set: (time) => moveTo(toMilliseconds(time)),
  };
}
