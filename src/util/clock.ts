import { attempt, propertyOf } from "./foreign.ts";

/**
 * The one source of time: every deadline, wait, poll, refill and timestamp of the SDK and of the emulator reads it.
 *
 * Replace it in tests with `createManualClock()` of `pod-partner/testing`.
 */
export interface PartnerClock {
  /** Milliseconds since 1970, never running backwards. */
  now(): number;
  /** Calls back once, `ms` milliseconds from now; gives the function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** Node turns a longer delay into 1 ms; one that fires early is harmless, since whoever waits looks at the clock again. */
const longestTimer = 2 ** 31 - 1;

/** The machine's own time. It reads the globals at each call, so that a test runner's fake timers reach it too. */
export const systemClock: PartnerClock = {
  now: () => performance.timeOrigin + performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(ms, 0), longestTimer));
    const cancel = () => clearTimeout(timer);
    cancel.keep = (alive: boolean) => void (alive ? timer.ref?.() : timer.unref?.());
    return cancel;
  },
};

/** Sets whether a timer of the system clock keeps the process alive, as it does at first. Does nothing for another clock. */
export function keepProcess(cancel: (() => void) | undefined, alive: boolean): void {
  const keep = propertyOf(cancel, "keep");
  if (typeof keep === "function") keep(alive);
}

/**
 * Makes a caller's own clock safe to use in callbacks, where an error could not be caught. If `now` throws or returns no number, time
 * goes on at the system's pace; if `after` throws or returns no function, the system sets the timer.
 */
export function reliable(clock: PartnerClock): PartnerClock {
  let latest = { time: systemClock.now(), at: systemClock.now() };
  return {
    now: () => {
      const time = attempt(() => clock.now());
      const at = systemClock.now();
      if (typeof time !== "number" || !Number.isFinite(time)) return latest.time + at - latest.at;
      latest = { time, at };
      return time;
    },
    after: (ms, callback) => {
      const cancel = attempt(() => clock.after(ms, callback));
      if (typeof cancel !== "function") return systemClock.after(ms, callback);
      return () => void attempt(cancel);
    },
  };
}
