import { abortController, unlessAborted } from "./abort-signals.ts";
import type { PartnerClock } from "./clock.ts";

/**
 * The number of slices of a time limit, each with its own timer. A blocked event loop delays only one of them: in the others, the work can
 * handle what arrived during the block. A power of 2, so that the slices add up exactly.
 */
const slices = 8;

/**
 * Waits for `work` for at most `ms` milliseconds in which the event loop runs. After that, its signal aborts with the error of `late`, and the
 * wait rejects with it, even if the work ignores its signal.
 */
export async function withTimeout<Result>(
  clock: PartnerClock,
  ms: number,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = abortController();
  let stopTimer: () => void = () => undefined;
  const wait = (left: number) => {
    stopTimer = clock.after(ms / slices, () => (left > 1 ? wait(left - 1) : controller.abort(late())));
  };
  wait(slices);
  try {
    return await unlessAborted(work(controller.signal), controller.signal);
  } finally {
    stopTimer();
  }
}
