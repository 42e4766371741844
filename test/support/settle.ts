// A client loads it when it is made: a clock that does not wait for that could be past a call's timeout before it is sent.
import "ky";
import type { ManualClock } from "pod-partner/testing";

/**
 * Moves the clock on, step by step, until a call has come to its end. Where its requests go over a real port the steps are to be
 * small: the clock does not stand still meanwhile.
 */
export async function settle<T>(clock: ManualClock, call: PromiseLike<T>, step = 1_000): Promise<T> {
  const began = clock.now();
  let settled = false;
  const done = () => {
    settled = true;
  };
  Promise.resolve(call).then(done, done);
  while (!settled) {
    if (clock.now() - began > 3_600_000) throw new Error("The call has not ended within an hour");
    await clock.advance(step);
  }
  return await call;
}
