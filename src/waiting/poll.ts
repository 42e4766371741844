import { DeadlineError } from "../errors/connection.ts";
import type { CancelScope } from "../http/call/cancel-scope.ts";
import type { TimelineRecorder } from "../http/call/timeline-recorder.ts";
import { endingOf } from "../util/foreign.ts";

/** One look: done with a value, or how many milliseconds to wait before the next. */
export type Look<T> = { readonly done: true; readonly value: T } | { readonly done: false; readonly wait: number };

/** Does a step, and writes down how it ended. */
async function recorded<T>(done: (outcome: string) => void, step: Promise<T>, outcomeOf: (value: T) => string) {
  try {
    const value = await step;
    done(outcomeOf(value));
    return value;
  } catch (error) {
    done(endingOf(error));
    throw error;
  }
}

/**
 * Looks until it is done, or until the scope ends, and writes each look and each wait into the recorder.
 *
 * @throws `DeadlineError` when the deadline comes first.
 */
export async function poll<T>(
  scope: CancelScope,
  recorder: TimelineRecorder,
  look: () => Promise<Look<T>>,
): Promise<T> {
  for (let last = false; ; ) {
    const seen = await recorded(recorder.begin("lookup"), look(), ({ done }) => (done ? "done" : "pending"));
    if (seen.done) return seen.value;
    if (last) throw new DeadlineError({ message: "It was not done before the deadline." });
    last = await recorded(recorder.begin("poll"), scope.sleepBeforeLook(seen.wait), () => "waited");
  }
}
