import { setImmediate } from "node:timers/promises";
import type { PartnerClock } from "../util/clock.ts";

/** A clock that moves only when a test moves it. */
export interface ManualClock extends PartnerClock {
  /** The number of timers that wait. It is 0 when no timer is left. */
  readonly pending: number;
  /** Moves the time forward by `ms` milliseconds. Runs each due timer at its own time and lets promises settle after it. */
  advance(ms: number): Promise<void>;
  /** Moves the time forward to a point in time, as `advance` does. Throws a `RangeError` for an earlier time. */
  set(time: Date | string | number): Promise<void>;
}

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

/** The default start: a Monday morning. */
const defaultStart = "2026-11-02T09:00:00.000Z";

const toMilliseconds = (time: Date | string | number): number => {
  const ms = new Date(time).getTime();
  if (Number.isNaN(ms))
    throw new RangeError(`The time must be a date, an ISO 8601 string or milliseconds since 1970; got ${String(time)}`);
  return ms;
};

/**
 * Makes a clock that moves only when you move it. Give it to the client and to the emulator as `clock`, so that tests do not sleep.
 *
 * @param start A date, an ISO 8601 string, or milliseconds since 1970. Default: 2026-11-02T09:00:00Z, a Monday.
 * @example
 * const clock = createManualClock();
 * const emulator = createEmulator({ clock });
 * await clock.advance(5_000); // renders that were created before are completed now
 */
export function createManualClock(start: Date | string | number = defaultStart): ManualClock {
  let now = toMilliseconds(start);
  const timers = new Set<Timer>();

  // Two turns of the event loop: the first runs what is scheduled, the second runs what the first one schedules.
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
    if (!(until >= now)) throw new RangeError("A clock cannot move backwards");
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
