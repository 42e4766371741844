import { attempt, propertyOf } from "./foreign.ts";

/**
 * Gives the time to the SDK and the emulator, for every deadline, wait, poll, refill and timestamp.
 *
 * In tests, replace it with `createManualClock()` of `pod-partner/testing`.
 *
 * @example
 * const clock = createManualClock();
 * const partner = new PodPartner({ baseUrl, secretKey, clock });
 */
export interface PartnerClock {
  /** Returns the milliseconds since 1970. The value never decreases. */
  now(): number;
  /** Calls `callback` once after `ms` milliseconds. Returns a function that cancels the call. */
  after(ms: number, callback: () => void): () => void;
}

/** The longest delay of a timer. Node changes a longer one to 1 ms. An early timer is harmless: every wait checks the clock again. */
const longestTimer = 2 ** 31 - 1;

/** The time of the machine. It reads the globals at each call, so that the fake timers of a test runner work. */
export const systemClock: PartnerClock = {
  now: () => performance.timeOrigin + performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(ms, 0), longestTimer));
    const cancel = () => clearTimeout(timer);
    cancel.keep = (alive: boolean) => void (alive ? timer.ref?.() : timer.unref?.());
    return cancel;
  },
};

/** Sets whether a timer of the system clock keeps the process alive. The default is true. Does nothing for another clock. */
export function keepProcess(cancel: (() => void) | undefined, alive: boolean): void {
  const keep = propertyOf(cancel, "keep");
  if (typeof keep === "function") keep(alive);
}

/**
 * Makes a custom clock safe to use in callbacks, where no code can catch an error. If `now` throws or returns no number, the time
 * continues at the system clock's speed. If `after` throws or returns no function, the system clock sets the timer.
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
