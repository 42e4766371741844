import type { PartnerClock } from "../../../src/util/clock.ts";

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
  stopped: boolean;
}

/** A simulated clock that runs as fast as the machine can: the next timer is always due at once. */
export interface Timeline extends PartnerClock {
  /** The number of waiting timers. */
  readonly pending: number;
  /** Runs timers in the order they are due, up to `until`, and lets promises settle after each. */
  run(until: number): Promise<void>;
}

/** Enough turns for a grant to pass through the promises of a call. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await undefined;
}

/** Returns the work that takes real time while this clock does not move; undefined without such work. */
export type RealWork = () => Promise<unknown> | undefined;

const before = (a: Timer, b: Timer) => a.due < b.due || (a.due === b.due && a.order < b.order);

/** A binary heap: simulations have tens of thousands of timers. */
function sift(heap: Timer[], timer: Timer): void {
  let at = heap.push(timer) - 1;
  while (at > 0) {
    const up = (at - 1) >> 1;
    const parent = heap[up];
    if (parent === undefined || !before(timer, parent)) break;
    heap[at] = parent;
    at = up;
  }
  heap[at] = timer;
}

function next(heap: Timer[]): Timer | undefined {
  const top = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return top;
  let at = 0;
  for (;;) {
    const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
    const rightFirst = left !== undefined && right !== undefined && before(right, left);
    const child = rightFirst ? right : left;
    if (child === undefined || before(last, child)) break;
    heap[at] = child;
    at = rightFirst ? 2 * at + 2 : 2 * at + 1;
  }
  heap[at] = last;
  return top;
}

export function createTimeline(start = 0, outside: RealWork = () => undefined): Timeline {
  const settled = async () => {
    await settle();
    for (let busy = outside(); busy !== undefined; busy = outside()) {
      await busy;
      await settle();
    }
  };
  const heap: Timer[] = [];
  let now = start;
  let order = 0;
  let pending = 0;
  return {
    now: () => now,
    get pending() {
      return pending;
    },
    after: (ms, callback) => {
      const timer: Timer = { due: now + Math.max(0, ms), order: order++, callback, stopped: false };
      sift(heap, timer);
      pending += 1;
      return () => {
        if (!timer.stopped) pending -= 1;
        timer.stopped = true;
      };
    },
    run: async (until) => {
      await settled();
      while (heap[0] !== undefined && heap[0].due <= until) {
        const timer = next(heap);
        if (timer === undefined || timer.stopped) continue;
        timer.stopped = true;
        pending -= 1;
        now = timer.due;
        timer.callback();
        await settled();
      }
      now = Math.max(now, until);
    },
  };
}
