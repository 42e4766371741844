import { attempt, propertyOf } from "./foreign.ts";

/**
 * The one source of time: every deadline, wait, poll, refill and timestamp of the SDK and of the emulator reads it.
 *
 * Replace it in tests with `createManualClock()` of `pod-partner/testing`.
 */
export interface Clock {
  /** Milliseconds since 1970, never running backwards. */
  now(): number;
  /** Calls back once, `ms` milliseconds from now; gives the function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** Node turns a longer delay into 1 ms; one that fires early is harmless, since whoever waits looks at the clock again. */
const longestTimer = 2 ** 31 - 1;

/** The machine's own time. It reads the globals at each call, so that a test runner's fake timers reach it too. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(ms, 0), longestTimer));
    const cancel = () => clearTimeout(timer);
    cancel.keep = (alive: boolean) => void (alive ? timer.ref?.() : timer.unref?.());
    return cancel;
  },
};

/**
 * Whether a timer keeps the process alive until it is due, as it does at first. Only the machine's own clock can let go of it; the timers
 * of another are its own affair.
 */
export function keepProcess(cancel: (() => void) | undefined, alive: boolean): void {
  const keep = propertyOf(cancel, "keep");
  if (typeof keep === "function") keep(alive);
}

/**
 * A partner's own clock, made safe to rely on: what it calls back runs where nobody could catch what it throws. Where it does not tell a
 * time, that goes on at the machine's pace; where it makes no timer, the machine does.
 */
export function reliable(clock: Clock): Clock {
  let latest = { told: 0, at: 0 };
  return {
    now: () => {
      const told = attempt(() => clock.now());
      const at = systemClock.now();
      if (typeof told !== "number" || !Number.isFinite(told)) return latest.told + at - latest.at;
      latest = { told, at };
      return told;
    },
    after: (ms, callback) => {
      const cancel = attempt(() => clock.after(ms, callback));
      if (typeof cancel !== "function") return systemClock.after(ms, callback);
      return () => void attempt(cancel);
    },
  };
}
