import { attempt, propertyOf } from "./foreign.ts";

/**
 * The source of time of the SDK and the emulator, for every deadline, wait, poll, refill and timestamp.
 *
 * In tests, replace it with `createManualClock()` of `pod-partner/testing`.
 *
 * @example
 * const clock = createManualClock();
 * const partner = new PodPartner({ baseUrl, secretKey, clock });
 */
export interface PartnerClock {
  /** Returns milliseconds that never decrease, even if the machine's clock is set back. Durations are measured with it. */
  now(): number;
  /**
   * Returns the time of the machine's clock, in milliseconds since 1970. Used for timestamps, and compared with those of the service. Default:
   * `now`.
   */
  date?(): number;
  /** Calls `callback` once after `ms` milliseconds. Returns a function that cancels the call. */
  after(ms: number, callback: () => void): () => void;
}

/** The longest delay of a timer. Node changes a longer one to 1 ms. An early timer is harmless: every wait checks the clock again. */
const maxTimerDelay = 2 ** 31 - 1;

/** When this file was loaded, for a `performance` without a `timeOrigin`. */
const loadedAt = Date.now();

/** Milliseconds of the platform's monotonic clock, or of the wall clock if a program has replaced `performance` by an incomplete one. */
function monotonic(): number {
  try {
    const { timeOrigin } = performance;
    const time = (Number.isFinite(timeOrigin) ? timeOrigin : loadedAt) + performance.now();
    if (Number.isFinite(time)) return time;
  } catch {
    // React Native and the oldest fake timers have no `performance`.
  }
  return Date.now();
}

/** Added to the platform's time, so that a change of its source does not set this clock back. */
let added = 0;
let latest = 0;

/** The time of the machine. It reads the globals at each call, so that the fake timers of a test runner work. */
export const systemClock: PartnerClock = {
  now: () => {
    const time = monotonic();
    if (time + added < latest) added = latest - time;
    // The sum can be rounded down.
    latest = Math.max(latest, time + added);
    return latest;
  },
  date: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(ms, 0), maxTimerDelay));
    const cancel = () => clearTimeout(timer);
    cancel.keep = (alive: boolean) => void (alive ? timer.ref?.() : timer.unref?.());
    return cancel;
  },
};

/** A moment by both clocks, `now` and `date`. A suspend, or a step of the machine's clock, moves them apart. */
export interface Moment {
  readonly at: number;
  readonly date: number;
}

export const momentOf = (clock: PartnerClock): Moment => ({ at: clock.now(), date: dateOf(clock) });

/** The largest number of milliseconds that can have passed since a moment: a monotonic clock can stop while the machine is suspended. */
export const longestSince = (moment: Moment, clock: PartnerClock): number =>
  Math.max(clock.now() - moment.at, dateOf(clock) - moment.date);

/** The date of a clock. A clock without `date`, such as that of a test, uses `now` for both. */
export const dateOf = (clock: PartnerClock): number => clock.date?.() ?? clock.now();

/** Sets whether a timer of the system clock keeps the process alive. Default: true. Does nothing for another clock. */
export function keepProcess(cancel: (() => void) | undefined, alive: boolean): void {
  const keep = propertyOf(cancel, "keep");
  if (typeof keep === "function") keep(alive);
}

/** Makes a read of the time reliable. If it throws or returns no number, the time continues at the system clock's speed. */
function reliableTime(read: () => number): () => number {
  let latest = { time: systemClock.now(), at: systemClock.now() };
  return () => {
    const time = attempt(read);
    const at = systemClock.now();
    if (typeof time !== "number" || !Number.isFinite(time)) return latest.time + at - latest.at;
    latest = { time, at };
    return time;
  };
}

/**
 * Makes a custom clock safe to use in callbacks, where no code can catch an error. If `now` or `date` throws or returns no number, its time
 * continues at the system clock's speed. If `after` throws or returns no function, the system clock sets the timer.
 */
export function reliable(clock: PartnerClock): PartnerClock {
  return {
    now: reliableTime(() => clock.now()),
    date: reliableTime(() => dateOf(clock)),
    after: (ms, callback) => {
      const cancel = attempt(() => clock.after(ms, callback));
      if (typeof cancel !== "function") return systemClock.after(ms, callback);
      return () => void attempt(cancel);
    },
  };
}
