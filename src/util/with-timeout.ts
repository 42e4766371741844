import { abortController, unlessAborted } from "./abort-signals.ts";
import type { PartnerClock } from "./clock.ts";

/**
 * The slices of a time limit, each with a timer of its own. A blocked event loop delays one of them, and so uses up no more than that slice:
 * in the rest, the work can see what came meanwhile. A power of 2, so that the slices add up exactly.
 */
const slices = 8;

/**
 * Waits for `work` for at most `ms` milliseconds in which the event loop runs. Then its signal aborts with the error of `late`, and the wait
 * rejects with it, also if the work ignores its signal.
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
