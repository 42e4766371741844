import { DeadlineError } from "../errors/connection.ts";
import { unlessAborted } from "../util/abort-signals.ts";
import type { PartnerClock } from "../util/clock.ts";

/**
 * Runs `work` for at most `timeout` milliseconds. Then its signal is aborted.
 *
 * @throws {@link DeadlineError} with `message` when the time is over, also if `work` ignores its signal.
 */
export async function withTimeout<Result>(
  clock: PartnerClock,
  timeout: number,
  message: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const stopTimer = clock.after(timeout, () => controller.abort(new DeadlineError({ message })));
  try {
    return await unlessAborted(work(controller.signal), controller.signal);
  } finally {
    stopTimer();
  }
}
