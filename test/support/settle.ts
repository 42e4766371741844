// A client loads ky lazily: a clock that moves earlier could reach a call's timeout before the call is sent.
import "ky";
import type { ManualClock } from "pod-partner/testing";

/**
 * Moves the clock step by step until a call has settled. Requests over a real port need small steps, because the clock does not stop
 * for them.
 */
export async function settle<T>(clock: ManualClock, call: PromiseLike<T>, step = 1_000): Promise<T> {
  const began = clock.now();
  let settled = false;
  const done = () => {
    settled = true;
  };
  Promise.resolve(call).then(done, done);
  while (!settled) {
    if (clock.now() - began > 3_600_000) throw new Error("The call did not settle within an hour");
    await clock.advance(step);
  }
  return await call;
}
