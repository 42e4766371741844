import type { CancelScope } from "../call/cancel-scope.ts";

/** Milliseconds before each look-up; after these the waits double, up to `longest`. */
const waits = [0, 500, 1_500, 2_000];
const longest = 8_000;

/**
 * Looks a creation up again and again for `time` milliseconds. A look-up that fails with `isRetryable` does not end the search: the
 * next one may succeed.
 *
 * @returns what was found, or undefined when the last look-up did not find it.
 * @throws what the last look-up failed with; `DeadlineError` when the deadline comes first.
 */
export async function search<Found>(
  scope: CancelScope,
  time: number,
  look: (decides: boolean) => Promise<Found | undefined>,
  maySucceedLater: (error: unknown) => boolean,
): Promise<Found | undefined> {
  const until = scope.elapsed() + time;
  for (let count = 1, wait = 0, last = false; ; count++) {
    // A look-up that began too early decides nothing, however long it took.
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
