import { ApiError } from "../errors/api.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { ConnectionError, DeadlineError, TimeoutError } from "../errors/connection.ts";
import { OutcomeUnknownError } from "../errors/outcome.ts";
import { ResponseTooLargeError } from "../errors/response-size.ts";
import { ResponseValidationError } from "../errors/validation.ts";
import type { Lifeline } from "./lifeline.ts";
import type { RequestOptions, RetryOptions } from "./request-options.ts";
import { askedDelay, hasErrorObject, isLost, isRateLimited } from "./retry.ts";

/** A creation's data, and the answer that told it. */
export interface Found<Data> {
  readonly data: Data;
  readonly response: Response;
}

/** What a creation came to, and whether a look-up told it. */
export interface Delivered<Data> extends Found<Data> {
  readonly recovered: boolean;
}

/** How a creation whose answer was lost is found again. */
export interface Recovery<Data> {
  /** Looks for it: undefined when it is not there. An error means that this cannot be told. */
  readonly look: (options: RequestOptions) => Promise<Found<Data> | undefined>;
  /** Whether the latest look has told that it is not there and cannot come any more: a refusal is what it is, then. */
  readonly ruledOut?: () => boolean;
  /** Where it cannot be decided: what identifies it, and how to find out. */
  readonly find: Readonly<Record<string, unknown>>;
  readonly how: string;
}

/** Milliseconds before each look: what the service received may take a moment to be written. */
const patience = [0, 500, 1_500, 2_000];

/** Milliseconds for which what may be there is looked for at the least. */
export const lookingTime = patience.reduce((sum, wait) => sum + wait);

/** The waits before each look, so many milliseconds in all. */
function* waits(time: number): Generator<number, void, undefined> {
  let waited = 0;
  for (let look = 0; look === 0 || waited < time; look++) {
    const wait = Math.min(patience[look] ?? waited, time - waited);
    yield Math.max(0, wait);
    waited += wait;
  }
}

/** After so many milliseconds it is looked for once more before it is sent again: it may have been written after all. */
const longSince = 1_000;

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

/** An answer that is no JSON was cut off or came from somewhere between; one that is JSON came, and is never lost. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof ResponseValidationError && (typeof error.response.body !== "object" || error.response.body === null);

/**
 * Codes that refuse a request for what it says (specification 7). They would have refused the first one, too; any other may
 * mean that it is there already.
 */
const refusals: ReadonlySet<string> = new Set<ErrorCode>([
  "missing_address",
  "missing_image_reference",
  "invalid_address_missing_email",
  "invalid_address_denied_country",
  "product_not_orderable",
  "store_not_writable_via_api",
  "order_not_in_shipment",
  "orderline_not_in_shipment",
  "package_missing_category_not_allowed",
  "evidence_required",
  "shipment_too_recent",
]);

/**
 * What an error says of a creation that may have been carried out already.
 *
 * - `lost`: this answer is lost, too, or is the first that is.
 * - `idle`: this attempt did nothing, and may be made again.
 * - `refused`: the service would not do it. It may be there already, or this request be wrong.
 * - `other`: it tells nothing.
 */
function verdictOf(error: unknown, recoverable: boolean): "lost" | "idle" | "refused" | "other" {
  if (isLost(error) || error instanceof ResponseTooLargeError || (recoverable && isUnreadable(error))) return "lost";
  if (isRateLimited(error) || (error instanceof ConnectionError && error.isRetryable)) return "idle";
  return error instanceof ApiError && error.status >= 400 ? "refused" : "other";
}

/** A request that has its tokens. */
export interface Ready<Data> {
  readonly send: () => Promise<Found<Data>>;
  /** Gives the tokens back. */
  readonly leave: () => void;
}

export interface Recovering<Data> {
  readonly endpoint: string;
  readonly lifeline: Lifeline;
  readonly retry: RetryOptions;
  /** Milliseconds that an attempt is given. */
  readonly timeout: number;
  readonly recovery: Recovery<Data> | undefined;
  /** Milliseconds for which to look for it before it is sent at all; undefined to send it without a look. */
  readonly lookFirst: number | undefined;
  /** Sends it, and again where it certainly did nothing. */
  readonly send: () => Promise<Found<Data>>;
  /** Waits for the tokens to send it once more. */
  readonly queue: () => Promise<Ready<Data>>;
  /** Whether a request is out, or was given up, whose answer has not come. */
  readonly inDoubt: () => boolean;
  /** It is certain that nothing was made. */
  readonly settle: () => void;
  /** Looks once, as a step of the call's timeline. */
  readonly look: (recovery: Recovery<Data>, when: "before" | "after") => Promise<Found<Data> | undefined>;
  /** Whether the client may still send something again. */
  readonly maySendAgain: () => boolean;
  /** Waits before the creation is sent again. */
  readonly pause: (error: unknown, attempt: number) => Promise<void>;
}

/**
 * Runs a creation so that nothing is created twice (law 2): after a lost answer it is looked up before it is sent again, and
 * where that cannot decide, `OutcomeUnknownError` says so.
 */
export async function recovering<Data>(call: Recovering<Data>): Promise<Delivered<Data>> {
  const { endpoint, lifeline, retry, timeout, lookFirst, inDoubt } = call;
  const recovery = call.recovery && endingWith(lifeline, call.recovery);
  let lookedAt = 0;

  const look = (when: "before" | "after") => {
    lookedAt = lifeline.elapsed();
    return recovery && call.look(recovery, when);
  };
  const lookFor = async (time: number, when: "before" | "after"): Promise<Delivered<Data> | undefined> => {
    if (recovery === undefined) return undefined;
    for (const wait of waits(time)) {
      if (wait > 0) await lifeline.sleep(wait, "looking for it again");
      const found = await look(when);
      if (found !== undefined) return { ...found, recovered: true };
    }
    return undefined;
  };
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
  const sent = async (sending: Promise<Found<Data>>): Promise<Delivered<Data> | { readonly error: unknown }> => {
    try {
      return { ...(await sending), recovered: false };
    } catch (error) {
      return { error };
    }
  };
  const isLongSince = () => lifeline.elapsed() - lookedAt >= longSince;
  const lookAgain = async () => (isLongSince() ? lookFor(0, "after") : undefined);
  const sendAgain = async (error: unknown, attempt: number) => {
    await call.pause(error, attempt);
    const late = await lookAgain();
    if (late !== undefined) return late;
    const ready = await call.queue();
    if (!isLongSince()) return sent(ready.send());
    // The line was long, too. It is left for a look: in a small bucket that needs the very token.
    ready.leave();
    return (await lookAgain()) ?? sent((await call.queue()).send());
  };

  const before = lookFirst === undefined ? undefined : await lookFor(lookFirst, "before");
  if (before !== undefined) return before;
  for (let attempt = 1, outcome = await sent(call.send()); ; attempt++) {
    if (!("error" in outcome)) return outcome;
    const { error } = outcome;
    if (!inDoubt()) throw error;
    if (lifeline.ended(error)) throw error instanceof DeadlineError ? unknown(error) : error;
    const verdict = verdictOf(error, recovery !== undefined);
    if (verdict === "other") throw attempt === 1 ? error : unknown(error);
    if (verdict !== "idle") {
      const time = error instanceof TimeoutError ? Math.max(lookingTime, timeout) : lookingTime;
      const found = await inTheDark(() => lookFor(time, "after"));
      if (found !== undefined) return found;
    }
    if (verdict === "refused") {
      const clear = hasErrorObject(error) && (refusals.has(error.code) || recovery?.ruledOut?.());
      if (!clear) throw unknown(error);
      call.settle();
      throw error;
    }
    const tooLate = (askedDelay(error) ?? 0) > retry.maxRetryAfter;
    const mayRepeat = recovery !== undefined && attempt <= retry.retries && !tooLate;
    if (!mayRepeat || !(isRateLimited(error) || call.maySendAgain())) throw unknown(error);
    outcome = await inTheDark(() => sendAgain(error, attempt));
  }
}
