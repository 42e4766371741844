import type { CancelScope } from "../call/cancel-scope.ts";

/** Milliseconds before each look-up; after these the waits double, up to `longest`. */
const waits = [0, 500, 1_500, 2_000];
const longest = 8_000;

/**
 * Repeats the look-up of a creation for `time` milliseconds. A look-up that fails with an error for which `maySucceedLater` is true does
 * not end the search.
 *
 * @returns the creation, or undefined when the last look-up did not find it.
 * @throws the error of the last look-up; `DeadlineError` when the deadline comes first.
 */
export async function search<Found>(
  scope: CancelScope,
  time: number,
  look: (decides: boolean) => Promise<Found | undefined>,
  maySucceedLater: (error: unknown) => boolean,
): Promise<Found | undefined> {
  const until = scope.elapsed() + time;
  for (let count = 1, wait = 0, last = false; ; count++) {
    // A look-up that began before the end of the search time does not decide, however long it took.
    const decides = last || scope.elapsed() >= until;
    try {
      const found = await look(decides);
      if (found !== undefined || (decides && !last)) return found;
    } catch (error) {
      if (decides || !maySucceedLater(error)) throw error;
    }
    if (last) throw scope.deadlineError("it was not found");
    wait = waits[count] ?? Math.min(wait * 2, longest);
    last = await scope.sleepBeforeLook(Math.max(0, Math.min(wait, until - scope.elapsed())));
  }
}
