import pRetry from "p-retry";
import { ApiError, RateLimitError, RendertokenLimitError, ServerError } from "../../errors/api.ts";
import { ConnectionError, RequestTimeoutError } from "../../errors/connection.ts";
import type { Repeat } from "../endpoint/endpoint.ts";
import type { RetryOptions } from "../endpoint/request-options.ts";

/** Whether the service refused a request for its rate limit: it did nothing, and says when to come back. */
export const isRateLimited = (error: unknown): error is RateLimitError =>
  error instanceof RateLimitError && !(error instanceof RendertokenLimitError);

/**
 * Whether an error answer is the service's own: its code is in lower_snake_case (specification 2.2). A proxy's has none, or one of
 * its own make, and decides nothing.
 */
export const hasErrorObject = (error: unknown): error is ApiError & { readonly code: string } =>
  error instanceof ApiError && /^[a-z]+(_[a-z0-9]+)*$/.test(error.code ?? "");

/** A 408 is none of the service's statuses: whoever answers it has waited for the service, or for the request, in vain. */
const isGatewayTimeout = (error: unknown): boolean => error instanceof ApiError && error.status === 408;

/** Whether an answer was lost: the request may have been carried out, and this side does not know. */
export const isLost = (error: unknown): boolean =>
  error instanceof RequestTimeoutError ||
  error instanceof ServerError ||
  isGatewayTimeout(error) ||
  (error instanceof ConnectionError && error.sent);

/** Whether somebody refused a request because there were too many. */
export const isOverload = (error: unknown): boolean => error instanceof ServerError && error.status === 503;

/** Whether the same request may go out again after this error. */
export function maySendAgain(error: unknown, repeat: Repeat): boolean {
  if (isRateLimited(error)) return true;
  if (error instanceof ConnectionError && !error.sent) return error.isRetryable;
  return isLost(error) && (repeat === "safe" || repeat === "idempotent");
}

/** A wait drawn at random below a bound that doubles with each attempt, so that many clients do not come back together. */
export const backoff = (attempt: number, { baseDelay, maxDelay }: RetryOptions): number =>
  Math.random() * Math.min(maxDelay, baseDelay * 2 ** (attempt - 1));

/** What the answer asks for; undefined where it leaves the wait to us. */
export const askedDelay = (error: unknown): number | undefined =>
  error instanceof ApiError ? error.retryAfter : undefined;

/**
 * Attempts until one succeeds, and at most `retries` times more while `mayRepeat` allows it. The waits are the attempt's own.
 *
 * @param attempt Is given its number, from 1, and the error of the attempt before it.
 * @throws what the last attempt threw, as it is: a caller may abort with anything.
 */
export async function repeat<T>(
  attempt: (number: number, previous: unknown) => Promise<T>,
  retries: number,
  mayRepeat: (error: unknown) => boolean,
): Promise<T> {
  let latest: unknown;
  const attempting = async (number: number): Promise<T> => {
    try {
      return await attempt(number, latest);
    } catch (error) {
      latest = error;
      // p-retry makes an error of whatever is thrown, and goes by the kind of some.
      throw new Error();
    }
  };
  try {
    return await pRetry(attempting, { retries, minTimeout: 0, shouldRetry: () => mayRepeat(latest) });
  } catch {
    throw latest;
  }
}
