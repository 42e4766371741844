import {
  ApiError,
  type ApiErrorDetails,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  GoneError,
  NotFoundError,
  NotImplementedError,
  NotReadyError,
  PermissionDeniedError,
  RateLimitError,
  RedirectError,
  RendertokenLimitError,
  ServerError,
} from "../../errors/api.ts";
import type { ErrorResponse } from "../../errors/response.ts";
import type { HeaderFields } from "../../util/response-head.ts";
import { parseRetryAfter } from "./retry-after.ts";

/** The class of each status that has one (specification 7). */
const classes = new Map<number, new (details: ApiErrorDetails) => ApiError>([
  [202, NotReadyError],
  [400, BadRequestError],
  [401, AuthenticationError],
  [403, PermissionDeniedError],
  [404, NotFoundError],
  [409, ConflictError],
  [410, GoneError],
  [429, RateLimitError],
  [501, NotImplementedError],
]);

function classFor(status: number): new (details: ApiErrorDetails) => ApiError {
  const exact = classes.get(status);
  if (exact !== undefined) return exact;
  if (status >= 500) return ServerError;
  return status >= 300 && status < 400 ? RedirectError : ApiError;
}

const fieldOf = (body: unknown, name: string): unknown =>
  typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;

/** The error object is the body itself, as the specification shows it, or the field `error`, as its conventions suggest. */
const stringField = (body: unknown, name: string): string | undefined =>
  [fieldOf(body, name), fieldOf(fieldOf(body, "error"), name)].find(
    (value): value is string => typeof value === "string" && value !== "",
  );

/** Names the origin of a redirect's target, and no other part of it. */
function redirectMessage(location: string | undefined, url: string): string {
  if (location === undefined || !URL.canParse(location, url)) return "a redirect, which the SDK does not follow";
  return `a redirect to ${new URL(location, url).origin}, which the SDK does not follow`;
}

/** The service has no status 407 (specification 7): it comes from a proxy, which does not forward the request. */
export const proxyMessage =
  "a proxy between this process and the service requires credentials. Set them in the `fetch` that uses the proxy, or in the option `proxy` of nodeTransport";

function messageFor({ status, headers, body }: ErrorResponse, url: string): string {
  const message = stringField(body, "message");
  if (message !== undefined) return message;
  if (status >= 300 && status < 400) return redirectMessage(headers.location, url);
  if (status === 407) return proxyMessage;
  if (status === 202) return "the file is not ready yet";
  if (typeof body === "string") return `the response has no error object, but text: ${body.slice(0, 200)}`;
  return "the response has no error object";
}

/** Makes the typed error of a response that is not a success, from its status and its error object (specification 2.2, 7). */
export function toApiError(failed: {
  readonly response: ErrorResponse;
  readonly headers: HeaderFields;
  readonly endpoint: string;
  readonly url: string;
  readonly now: number;
}): ApiError {
  const { response, headers, endpoint, url, now } = failed;
  const details = {
    response,
    code: stringField(response.body, "code"),
    message: messageFor(response, url),
    endpoint,
    retryAfter: parseRetryAfter(headers, now),
  };
  if (response.status === 429 && details.code === "rendertoken_limit_exceeded") {
    return new RendertokenLimitError({ ...details, now });
  }
  return new (classFor(response.status))(details);
}
