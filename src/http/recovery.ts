import { ApiError } from "../errors/api.ts";
import { DeadlineError, TimeoutError } from "../errors/connection.ts";
import { OutcomeUnknownError } from "../errors/outcome.ts";
import { ResponseTooLargeError } from "../errors/response-size.ts";
import { ResponseValidationError } from "../errors/validation.ts";
import type { Lifeline } from "./lifeline.ts";
import type { RequestOptions, RetryOptions } from "./request-options.ts";
import { askedDelay, isLost } from "./retry.ts";

/** A creation's data, and the answer that told it. */
export interface Found<Data> {
  readonly data: Data;
  readonly response: Response;
}

/** How a creation whose answer was lost is found again. */
export interface Recovery<Data> {
  /** Looks for it: undefined when it is not there. An error means that this cannot be told. */
  readonly look: (options: RequestOptions) => Promise<Found<Data> | undefined>;
  /** Where it cannot be decided: what identifies it, and how to find out. */
  readonly find: Readonly<Record<string, unknown>>;
  readonly how: string;
}

/** Milliseconds before each look: what the service received may take a moment to be written. */
const patience = [0, 500, 1_500, 2_000];

/** The waits before each look. A service that did not answer in time may be at it still: it gets as long again. */
function* waits(error: unknown, timeout: number): Generator<number, void, undefined> {
  yield* patience;
  if (!(error instanceof TimeoutError)) return;
  for (let waited = patience.reduce((sum, wait) => sum + wait); waited < timeout; ) {
    const wait = Math.min(waited, timeout - waited);
    yield wait;
    waited += wait;
  }
}

/** Milliseconds of a pause after which it is looked for once more before it is sent again. */
const longPause = 1_000;

/** A look may take many requests, such as the pages of a list: all of them end when the call does. */
const endingWith = <Data>(lifeline: Lifeline, recovery: Recovery<Data>): Recovery<Data> => ({
  ...recovery,
  look: (options) =>
    lifeline.hold(({ resolve, reject }) => {
      const gone = new AbortController();
      recovery.look({ ...options, signal: gone.signal }).then(resolve, reject);
      return (reason) => gone.abort(reason);
    }),
});

/** Whether a first attempt that was lost may be what made a later one fail: the service says that it is there already. */
const mayBeConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500;

/**
 * Refusals that say nothing of the request itself: a lost attempt before them may have been carried out all the same. One without
 * an error object is none of the service's (specification 7.1).
 */
const hidesTheFirst = (error: unknown): boolean =>
  error instanceof ApiError && ([401, 403, 409, 429].includes(error.status) || error.code === undefined);

/** An answer that is no JSON was cut off or came from somewhere between; one that is JSON came, and is never lost. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof ResponseValidationError && (typeof error.response.body !== "object" || error.response.body === null);

export interface Recovering<Data> {
  readonly endpoint: string;
  readonly lifeline: Lifeline;
  readonly retry: RetryOptions;
  /** Milliseconds that an attempt was given. */
  readonly timeout: number;
  readonly recovery: Recovery<Data> | undefined;
  /** Whether a request is out, or was given up, whose answer has not come. */
  readonly inDoubt: () => boolean;
  /** Looks once, as a step of the call's timeline. */
  readonly look: (recovery: Recovery<Data>) => Promise<Found<Data> | undefined>;
  /** Whether the client may still send something again. */
  readonly maySendAgain: () => boolean;
  /** Waits before the creation is sent again. */
  readonly pause: (error: unknown, attempt: number) => Promise<void>;
}

/**
 * Runs a creation so that nothing is created twice (law 2): after a lost answer it is looked up before it is sent again, and
 * where that cannot decide, `OutcomeUnknownError` says so.
 */
export async function recovering<Data>(
  run: () => Promise<Found<Data>>,
  { endpoint, lifeline, retry, timeout, recovery, inDoubt, look, maySendAgain, pause }: Recovering<Data>,
): Promise<Found<Data> & { readonly recovered: boolean }> {
  const unknown = (cause: unknown) =>
    new OutcomeUnknownError({
      endpoint,
      how: recovery?.how ?? "The SDK knows no way to look it up: find out before you send it again.",
      find: recovery?.find ?? {},
      cause,
    });

  /** While it is unknown what happened, a failure leaves it unknown; only the caller's own abort stays what it is. */
  const inTheDark = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (failure) {
      throw lifeline.ended(failure) && !(failure instanceof DeadlineError) ? failure : unknown(failure);
    }
  };

  const bounded = recovery && endingWith(lifeline, recovery);
  const lookPatiently = async (error: unknown): Promise<Found<Data> | undefined> => {
    if (bounded === undefined) return undefined;
    for (const wait of waits(error, timeout)) {
      await lifeline.sleep(wait, "looking for it again");
      const found = await look(bounded);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  /** In a long pause the first may have been written after all. */
  const pauseAndLook = async (error: unknown, attempt: number): Promise<Found<Data> | undefined> => {
    const since = lifeline.elapsed();
    await pause(error, attempt);
    return bounded !== undefined && lifeline.elapsed() - since >= longPause ? look(bounded) : undefined;
  };

  for (let attempt = 1, lostBefore = false; ; attempt++, lostBefore = true) {
    try {
      return { ...(await run()), recovered: false };
    } catch (error) {
      if (lifeline.ended(error))
        throw error instanceof DeadlineError && (lostBefore || inDoubt()) ? unknown(error) : error;
      const unreadable = recovery !== undefined && isUnreadable(error);
      const lost = isLost(error) || error instanceof ResponseTooLargeError || unreadable;
      if (!lost && !(lostBefore && mayBeConflict(error))) throw lostBefore ? unknown(error) : error;
      const found = await inTheDark(() => lookPatiently(error));
      if (found !== undefined) return { ...found, recovered: true };
      if (!lost) throw lostBefore && hidesTheFirst(error) ? unknown(error) : error;
      const tooLate = (askedDelay(error) ?? 0) > retry.maxRetryAfter;
      if (recovery === undefined || attempt > retry.retries || tooLate || !maySendAgain()) throw unknown(error);
      const late = await inTheDark(() => pauseAndLook(error, attempt));
      if (late !== undefined) return { ...late, recovered: true };
    }
  }
}
