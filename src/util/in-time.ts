import type { PartnerClock } from "./clock.ts";

/** Work that gave no result in its time. */
export class NoResultError extends Error {}

/** Waits for work that cannot be stopped, at most `ms` milliseconds. What it does later is not waited for, and rejects nothing. */
export function inTime<Result>(work: () => Promise<Result>, ms: number, clock: PartnerClock): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const stop = clock.after(ms, () => reject(new NoResultError(`no result within ${ms} ms`)));
    // `async`: a function of the caller may throw, or return a value that is no promise.
    const running = async () => work();
    running().then(resolve, reject).finally(stop);
  });
}
