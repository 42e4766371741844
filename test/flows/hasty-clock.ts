import type { Clock } from "pod-partner";

/**
 * A clock on which a wait longer than `limit` milliseconds is over at once, as if that time had passed; but for one of exactly
 * `kept` milliseconds: a timeout that shall not be met, however busy the machine is.
 */
export function createHastyClock(limit: number, kept?: number): Clock {
  let skipped = 0;
  return {
    now: () => performance.timeOrigin + performance.now() + skipped,
    after: (ms, callback) => {
      const skip = ms > limit && ms !== kept;
      const timer = setTimeout(
        () => {
          if (skip) skipped += ms;
          callback();
        },
        skip ? 0 : ms,
      );
      return () => clearTimeout(timer);
    },
  };
}
