interface Timer {
  readonly due: number;
  readonly run: () => void;
}

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** A clock that moves only by hand, with what the emulator needs of a clock. */
export function createClock(start = "2026-06-03T10:00:00Z") {
  let now = Date.parse(start);
  const timers = new Set<Timer>();

  const moveTo = (until: number) => {
    const next = [...timers].filter(({ due }) => due <= until).sort((one, other) => one.due - other.due)[0];
    if (next === undefined) {
      now = Math.max(now, until);
      return;
    }
    timers.delete(next);
    now = Math.max(now, next.due);
    next.run();
    moveTo(until);
  };

  return {
    now: () => now,
    after: (ms: number, run: () => void) => {
      const timer = { due: now + Math.max(0, ms), run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance: (ms: number) => moveTo(now + ms),
    set: (time: string) => moveTo(Date.parse(time)),
  };
}
