import type { PartnerClock } from "../../util/clock.ts";
import { type PointInTime, toMilliseconds } from "./point-in-time.ts";
import { settle, Timers } from "./timers.ts";

/** A clock that moves only when a test moves it. */
export interface ManualClock extends PartnerClock {
  /** The number of timers that a caller waits for. It is 0 when no timer is left. The pending work of an emulator does not count. */
  readonly pending: number;
  /** Moves the time forward by `ms` milliseconds. Runs each due timer at its own time and lets promises settle after it. */
  advance(ms: number): Promise<void>;
  /** Moves the time forward to a point in time, as `advance` does. Throws a `RangeError` for an earlier time. */
  set(time: PointInTime): Promise<void>;
}

/** The default start: a Monday morning. */
export const defaultStart = "2026-11-02T09:00:00.000Z";

/**
 * Makes a clock that moves only when you move it. Give it to the client and to the emulator as `clock`, so that tests do not sleep.
 *
 * @param start A date, an ISO 8601 string, or milliseconds since 1970. Default: 2026-11-02T09:00:00Z, a Monday.
 * @example
 * const clock = createManualClock();
 * const emulator = createEmulator({ clock });
 * await clock.advance(5_000); // renders that were created before are completed now
 */
export function createManualClock(start: PointInTime = defaultStart): ManualClock {
  let now = toMilliseconds(start);
  const timers = new Timers();

  const moveTo = async (until: number) => {
    if (!(until >= now)) throw new RangeError("A clock cannot move backwards");
    await settle();
    for (let timer = timers.take(until); timer !== undefined; timer = timers.take(until)) {
      now = Math.max(now, timer.due);
      timer.callback();
      await settle();
    }
    now = Math.max(now, until);
    await settle();
  };

  return {
    now: () => now,
    after: (ms, callback) => timers.add(now + Math.max(ms, 0), callback),
    get pending() {
      return timers.foreground;
    },
    advance: (ms) => moveTo(now + ms),
    set: (time) => moveTo(toMilliseconds(time)),
  };
}
