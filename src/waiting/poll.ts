import { DeadlineError } from "../errors/connection.ts";
import type { TimelineRecorder } from "../http/call.ts";
import type { CancelScope } from "../http/cancel-scope.ts";
import { endingOf } from "../util/foreign.ts";

/** The result of one look-up: the final value, or the milliseconds to wait before the next look-up. */
export type Look<T> = { readonly done: true; readonly value: T } | { readonly done: false; readonly wait: number };

/** Waits for a step and records its outcome. */
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
 * Repeats a look-up until it is done or the scope ends. The recorder gets each look-up and each wait.
 *
 * @throws `DeadlineError` if the deadline ends first.
 */
export async function poll<T>(
  scope: CancelScope,
  recorder: TimelineRecorder,
  look: () => Promise<Look<T>>,
): Promise<T> {
  for (let last = false; ; ) {
    const seen = await recorded(recorder.begin("lookup"), look(), ({ done }) => (done ? "done" : "pending"));
    if (seen.done) return seen.value;
    if (last) throw new DeadlineError({ message: "The deadline ended before the result was available." });
    last = await recorded(recorder.begin("poll"), scope.sleepBeforeLook(seen.wait), () => "waited");
  }
}
