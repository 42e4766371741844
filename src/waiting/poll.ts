import { DeadlineError } from "../errors/connection.ts";
import type { Journal } from "../http/call/timeline-recorder.ts";
import type { Lifeline } from "../http/call/cancel-scope.ts";
import { endingOf } from "../util/foreign.ts";

/** One look: done with a value, or how many milliseconds to wait before the next. */
export type Look<T> = { readonly done: true; readonly value: T } | { readonly done: false; readonly wait: number };

/** Does a step, and writes down how it ended. */
async function journaled<T>(done: (outcome: string) => void, step: Promise<T>, outcomeOf: (value: T) => string) {
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
 * Looks until it is done, or until the lifeline ends, and writes each look and each wait into the journal.
 *
 * @throws `DeadlineError` when the deadline comes first.
 */
export async function poll<T>(lifeline: Lifeline, journal: Journal, look: () => Promise<Look<T>>): Promise<T> {
  for (let last = false; ; ) {
    const seen = await journaled(journal.begin("lookup"), look(), ({ done }) => (done ? "done" : "pending"));
    if (seen.done) return seen.value;
    if (last) throw new DeadlineError({ message: "It was not done before the deadline." });
    last = await journaled(journal.begin("poll"), lifeline.sleepBeforeLook(seen.wait), () => "waited");
  }
}
