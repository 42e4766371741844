import { unlessAborted } from "./abort-signals.ts";
import type { PartnerClock } from "./clock.ts";

/**
 * Waits for `work` for at most `ms` milliseconds. Then its signal aborts with the error of `late`, and the wait rejects with it, also if the
 * work ignores its signal.
 */
export async function withTimeout<Result>(
  clock: PartnerClock,
  ms: number,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const stopTimer = clock.after(ms, () => controller.abort(late()));
  try {
    return await unlessAborted(work(controller.signal), controller.signal);
  } finally {
    stopTimer();
  }
}
