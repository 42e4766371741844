import {
  ApiError,
  type ErrorCode,
  hasErrorObject,
  RateLimitError,
  RendertokenLimitError,
  ServerError,
} from "../errors/api.ts";
import { ConnectionError, RequestTimeoutError } from "../errors/connection.ts";
import { ResponseTooLargeError } from "../errors/response.ts";
import { ResponseValidationError } from "../errors/validation.ts";
import type { Endpoint } from "./endpoint.ts";

/*
 * What an error shows about its request: whether the service carried it out, may still do so, or refused it.
 */

/** Whether the service refused a request for its rate limit. It did nothing, and a retry may follow after `Retry-After`. */
export const isRateLimited = (error: unknown): error is RateLimitError =>
  error instanceof RateLimitError && !(error instanceof RendertokenLimitError);

/** The service does not use 408: it comes from a gateway that stopped waiting for the service or for the request. */
const isGatewayTimeout = (error: unknown): boolean => error instanceof ApiError && error.status === 408;

/** Whether a response was lost: the service may have carried out the request. */
const isLost = (error: unknown): boolean =>
  error instanceof RequestTimeoutError ||
  error instanceof ServerError ||
  isGatewayTimeout(error) ||
  (error instanceof ConnectionError && error.sent);

/** Whether a redirect can mean that a change was carried out and its result is elsewhere: a client may follow these with a GET (RFC 9110, 15.4). */
const isElsewhere = (error: unknown): boolean => error instanceof ApiError && [301, 302, 303].includes(error.status);

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
  if (isUnreadable(error) || isElsewhere(error)) return repeat === "idempotent" && response.kind === "empty";
  return isLost(error) && (repeat === "safe" || repeat === "idempotent");
}

/** The response's `Retry-After` in milliseconds; undefined without one. */
export const retryAfterOf = (error: unknown): number | undefined =>
  error instanceof ApiError ? error.retryAfter : undefined;

/** Whether an error shows that the service did not carry out the request. */
export const didNothing = (error: unknown): boolean =>
  error instanceof ApiError ? !isLost(error) && !isElsewhere(error) : error instanceof ConnectionError && !error.sent;

/**
 * What an error says about a creation that the service may have carried out.
 *
 * - `lost`: the response is lost.
 * - `idle`: this attempt did nothing, and a retry is safe.
 * - `refused`: the service refused the request. An earlier attempt may have been carried out, or the request is wrong.
 * - `other`: the error shows nothing about the outcome.
 */
export function verdictOf(error: unknown, recoverable: boolean): "lost" | "idle" | "refused" | "other" {
  if (isLost(error) || isElsewhere(error) || error instanceof ResponseTooLargeError) return "lost";
  if (recoverable && isUnreadable(error)) return "lost";
  if (isRateLimited(error) || (error instanceof ConnectionError && error.isRetryable)) return "idle";
  return error instanceof ApiError && error.status >= 400 ? "refused" : "other";
}

/**
 * Codes that refuse a request for its content or for what its order is (specification 7). They would have refused the first attempt, too;
 * any other code may mean that the first attempt was carried out.
 */
const contentCodes: ReadonlySet<string> = new Set<ErrorCode>([
  "missing_address",
  "missing_image_reference",
  "invalid_address_missing_email",
  "invalid_address_denied_country",
  "product_not_orderable",
  "store_not_writable_via_api",
  "order_not_dropship",
  "replacement_address_locked",
  "order_not_in_shipment",
  "orderline_not_in_shipment",
  "package_missing_category_not_allowed",
  "evidence_required",
  "shipment_too_recent",
]);

/** Whether the service refused a request for its content, so that no attempt can have been carried out. */
export const refusesContent = (error: unknown): boolean => hasErrorObject(error) && contentCodes.has(error.code);

/** A response that is lost within this many milliseconds does not show that the service is still working. */
const minWorkTime = 250;

/** Statuses of gateways that stopped waiting for the service: 504 and 408, and those of well-known gateways. */
const gatewayTimeouts: ReadonlySet<number> = new Set([408, 504, 524, 598, 599]);

/**
 * Whether the service may still be working on a request although its response is lost `elapsed` milliseconds after sending. A
 * connection that breaks at once was idle or refused; a connection that breaks after a while carried a request.
 */
function mayStillWork(error: unknown, elapsed: number): boolean {
  if (error instanceof RequestTimeoutError) return true;
  // A gateway may send these in the service's own error format.
  if (error instanceof ApiError && gatewayTimeouts.has(error.status)) return true;
  // The service itself responded: it has finished.
  if (hasErrorObject(error)) return false;
  // This includes a late 503 with `Retry-After`: the gateway may have forwarded the request before it gave up.
  return elapsed >= minWorkTime && !(error instanceof ApiError && error.status === 500);
}

/** How long a creation may take, and until look-ups show it: see the assumptions of the same names. */
export interface CreationTimes {
  readonly processingTime: number;
  readonly lookupTime: number;
}

/**
 * Milliseconds for which to look up a creation whose response was lost `elapsed` milliseconds after sending. It depends on how long
 * the service may still be working, and not on who stopped waiting first: this client, a gateway, or a broken connection.
 */
export function searchTime(error: unknown, elapsed: number, times: CreationTimes): number {
  return mayStillWork(error, elapsed) ? longSearch(elapsed, times) : times.lookupTime;
}

/** The service may take `processingTime` in total, or as long again as the request has taken. */
export const longSearch = (elapsed: number, { processingTime, lookupTime }: CreationTimes): number =>
  Math.max(lookupTime, elapsed, processingTime - elapsed);
