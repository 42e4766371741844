/**
 * Tokens that stay in a bucket of at least this quota whose token comes within `interval` milliseconds. Without them the first request of
 * another process would always find the bucket empty.
 */
export const kept = { quota: 10, interval: 30_000, tokens: 1 };
/**
 * The two clocks are not exactly in step: a token is used this many milliseconds after it is due, as minimum and as planned. The service's
 * clock may be slower by the part `drift`, and so may the refill.
 */
export const safety = { least: 3, planned: 4, drift: 0.001 };

/** Milliseconds until the level of a bucket suffices for the next request; 0 when it does now. */
export function levelWait(level: number, quota: number, interval: number, inFlight: number): number {
  const full = Math.max(1, quota - inFlight);
  const needed = 1 + (quota >= kept.quota && interval <= kept.interval ? kept.tokens : 0);
  if (level >= Math.min(needed + safety.least / interval, full)) return 0;
  return (Math.min(needed + safety.planned / interval, full) - level) * interval;
}
