import { ApiError, RateLimitError, RendertokenLimitError, ServerError } from "../../errors/api.ts";
import { ConnectionError, RequestTimeoutError } from "../../errors/connection.ts";
import { ResponseValidationError } from "../../errors/validation.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { RetryOptions } from "../endpoint/request-options.ts";

/** Whether the service refused a request for its rate limit. It did nothing, and a retry may follow after `Retry-After`. */
export const isRateLimited = (error: unknown): error is RateLimitError =>
  error instanceof RateLimitError && !(error instanceof RendertokenLimitError);

/**
 * Whether an error response is the service's own: its code is in lower_snake_case (specification 2.2). A proxy's response has no code, or
 * a code of another form, and does not show the outcome.
 */
export const hasErrorObject = (error: unknown): error is ApiError & { readonly code: string } =>
  error instanceof ApiError && /^[a-z]+(_[a-z0-9]+)*$/.test(error.code ?? "");

/** The service does not use 408: it comes from a gateway that stopped waiting for the service or for the request. */
const isGatewayTimeout = (error: unknown): boolean => error instanceof ApiError && error.status === 408;

/** Whether a response was lost: the service may have carried out the request. */
export const isLost = (error: unknown): boolean =>
  error instanceof RequestTimeoutError ||
  error instanceof ServerError ||
  isGatewayTimeout(error) ||
  (error instanceof ConnectionError && error.sent);

/** Whether the service or a gateway refused a request because there were too many. */
export const isOverload = (error: unknown): boolean => error instanceof ServerError && error.status === 503;

/** A response that is not JSON was cut off or comes from a gateway; a JSON response comes from the service, and is not lost. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof ResponseValidationError && (typeof error.response.body !== "object" || error.response.body === null);

/** Whether the same request may be sent again after this error. */
export function maySendAgain(error: unknown, { repeat, response }: Pick<Endpoint, "repeat" | "response">): boolean {
  if (isRateLimited(error)) return true;
  if (error instanceof ConnectionError && !error.sent) return error.isRetryable;
  // The response to a change has no body: another body shows that a gateway wrote the response.
  if (isUnreadable(error)) return repeat === "idempotent" && response.kind === "empty";
  return isLost(error) && (repeat === "safe" || repeat === "idempotent");
}

/** A random wait below a bound that doubles with each attempt, so that many clients do not retry at the same time. */
export const backoff = (attempt: number, { baseDelay, maxDelay }: RetryOptions): number =>
  Math.random() * Math.min(maxDelay, baseDelay * 2 ** (attempt - 1));

/** The response's `Retry-After` in milliseconds; undefined without one. */
export const retryAfterOf = (error: unknown): number | undefined =>
  error instanceof ApiError ? error.retryAfter : undefined;

/** One attempt. It receives its number, from 1, and the error of the attempt before it. */
type Attempting<T> = (number: number, previous: unknown) => Promise<T>;

/**
 * Calls `attempt` until it succeeds, with at most `retries` retries while `mayRepeat` allows them. The attempt itself waits.
 *
 * @throws the value that the last attempt threw, unchanged: a caller may abort with any value.
 */
export async function repeat<T>(
  attempt: Attempting<T>,
  retries: number,
  mayRepeat: (error: unknown) => boolean,
): Promise<T> {
  try {
    return await attempt(1, undefined);
  } catch (error) {
    if (retries === 0 || !mayRepeat(error)) throw error;
    return repeatAfter(error, attempt, retries, mayRepeat);
  }
}

/** The retries. Most calls need none, so p-retry is loaded at the first one. If it cannot be loaded, the first error ends the call. */
async function repeatAfter<T>(
  first: unknown,
  attempt: Attempting<T>,
  retries: number,
  mayRepeat: (error: unknown) => boolean,
): Promise<T> {
  let latest = first;
  const attempting = async (retry: number): Promise<T> => {
    try {
      return await attempt(1 + retry, latest);
    } catch (error) {
      latest = error;
      // p-retry turns every thrown value into an error, and treats some kinds of errors in special ways.
      throw new Error();
    }
  };
  try {
    const { default: pRetry } = await import("p-retry");
    return await pRetry(attempting, { retries: retries - 1, minTimeout: 0, shouldRetry: () => mayRepeat(latest) });
  } catch {
    throw latest;
  }
}
