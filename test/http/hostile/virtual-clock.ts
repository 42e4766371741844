import { setImmediate } from "node:timers/promises";
import type { PartnerClock } from "../../../src/util/clock.ts";

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

/** No machine's timer can wait longer than this (`src/util/clock.ts`). */
const longest = 2 ** 31 - 1;

/** One timeline with two clocks: it distinguishes the client's timers from all others. */
export interface VirtualTime {
  readonly client: PartnerClock;
  readonly world: PartnerClock;
  now(): number;
  /** The client's waiting timers. */
  readonly pending: number;
  /** The client's waits that are not finite. */
  readonly absurd: readonly number[];
  /** Moves to the next timer; returns false if no timer is due by `until`. */
  jump(until: number): boolean;
}

/** Milliseconds of real time that a file operation may take. */
const patience = 2_000;

/** Runs everything that needs no time. File operations run on other threads: this waits for them, with a limit. */
export async function settleTasks(): Promise<void> {
  // An iteration hands a page over three turns after it has arrived, and the page read ahead three turns later. Any time that passes
  // meanwhile would count as a wait of the call.
  for (let turn = 0; turn < 16; turn++) await setImmediate();
  for (const until = performance.now() + patience; filesBusy() && performance.now() < until; ) await setImmediate();
}

const filesBusy = (): boolean => process.getActiveResourcesInfo().some((name) => /^FSReq|^CloseReq/.test(name));

export function createVirtualTime(start = Date.parse("2026-11-02T09:00:00Z")): VirtualTime {
  let now = start;
  const timers = { client: new Set<Timer>(), world: new Set<Timer>() };
  const absurd: number[] = [];

  const clockOf = (owner: keyof typeof timers): PartnerClock => ({
    now: () => now,
    after: (ms, callback) => {
      if (owner === "client" && !Number.isFinite(ms)) absurd.push(ms);
      // As in `setTimeout`: a delay that is not a number is zero.
      const wait = Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), longest);
      const timer = { due: now + wait, callback };
      timers[owner].add(timer);
      return () => void timers[owner].delete(timer);
    },
  });

  return {
    client: clockOf("client"),
    world: clockOf("world"),
    now: () => now,
    absurd,
    get pending() {
      return timers.client.size;
    },
    jump: (until) => {
      let next: Timer | undefined;
      for (const set of [timers.world, timers.client]) {
        for (const timer of set) if (next === undefined || timer.due < next.due) next = timer;
      }
      if (next === undefined || next.due > until) return false;
      timers.client.delete(next);
      timers.world.delete(next);
      now = Math.max(now, next.due);
      next.callback();
      return true;
    },
  };
}
