import type { PartnerClock } from "pod-partner";

export interface FastClockOptions {
  /** The length of a wait that does not end at once, in milliseconds: a timeout that must not fire, even on a busy machine. */
  readonly kept?: number;
  /** Milliseconds that the clock is ahead of the machine's. */
  readonly ahead?: number;
}

/** Milliseconds that a connection may take to open. It takes real time, so a fast clock keeps this wait, too. */
export const connectTimeout = 9_999;

/** A clock on which a wait longer than `limit` milliseconds ends at once, as if that time had passed. */
export function createFastClock(limit: number, { kept, ahead = 0 }: FastClockOptions = {}): PartnerClock {
  let skipped = ahead;
  return {
    now: () => performance.timeOrigin + performance.now() + skipped,
    after: (ms, callback) => {
      const skip = ms > limit && ms !== kept && ms !== connectTimeout;
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
