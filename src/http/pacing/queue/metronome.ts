import pThrottle from "p-throttle";

/**
 * Calls back at a steady interval, without drift: a beat that is requested at the previous one comes exactly one interval after it.
 *
 * `p-throttle` fixes its limit at construction, so each interval needs its own metronome.
 */
export interface Metronome {
  /** Milliseconds. */
  readonly interval: number;
  /** Calls back at the next beat. */
  beat(callback: () => void): void;
  /** Cancels the next beat; this metronome cannot be used again. */
  stop(): void;
}

export function createMetronome(interval: number): Metronome {
  const stopped = new AbortController();
  const throttled = pThrottle({ limit: 1, interval, signal: stopped.signal })(async (callback: () => void) =>
    callback(),
  );
  return {
    interval,
    beat: (callback) => {
      throttled(callback).catch(() => undefined);
    },
    stop: () => stopped.abort(),
  };
}
