import { inOneLine } from "../util/visible.ts";
import { forLog, PodPartnerError, shorten } from "./base.ts";
import { type ErrorResponse, htmlHint, loggedResponse } from "./response.ts";

/** Every error code of specification 7, with a hint about what to do next. The service may add codes at any time. */
export const errorCodes = {
  missing_address: "Set `dropshipAddress`: a dropship order needs a destination.",
  missing_image_reference: "Set `imageReference` on each orderline whose product is printed.",
  invalid_address_missing_email: "Set `email` in the dropship address.",
  invalid_address_denied_country: "Use another destination: the service does not deliver to this `countryCode`.",
  product_not_orderable:
    "Check the product's `status`: only prelaunched, launched and sunsetted products can be ordered.",
  store_not_writable_via_api: "Use a store whose `integration` is `api`; the API cannot write to other stores.",
  canceled_quantity_below_current:
    "Read the order and send at least its current `canceledQuantity`: the value is the absolute total, not a difference.",
  canceled_quantity_exceeds_shippable: "Read the order and cancel at most `quantity - shippedQuantity` of a line.",
  already_in_production: "Leave the order as it is: it is in production, and can no longer be canceled.",
  order_completed: "Leave the order as it is: every orderline is shipped or canceled, so it can no longer be changed.",
  order_not_dropship: "Use a dropship order: a combined order has no address of its own to replace.",
  replacement_address_locked:
    "Keep the address: a replacement order goes to the destination of the claim that it settles.",
  order_not_in_shipment: "Check `orderReference` and `shipmentReference`: the shipment contains no item of the order.",
  orderline_not_in_shipment: "Check `orderlineIndex`: the shipment does not contain that orderline.",
  package_missing_category_not_allowed: "Use `claims.createPackageMissing` for a missing package.",
  evidence_required:
    "Upload a photo with `evidence.upload` and set its reference in `evidenceReferences` of the claimline.",
  shipment_too_recent:
    "File the claim after the delivery window has passed. The message names the first possible date.",
  rendertoken_limit_exceeded:
    "Retry after the weekly reset (Monday 00:00 Europe/Amsterdam). `rendertokens.get()` returns the remaining tokens.",
  rate_limited:
    "Repeat the call after `retryAfter` milliseconds, or raise `retry.maxRetryAfter`. Keep `pacing` on, and use one client per process.",
  unknown_input_error: "Read the message: only it says why the service rejected the input.",
} as const;

/** An error code that this version of the SDK knows (specification 7). */
export type KnownErrorCode = keyof typeof errorCodes;

/** The service's error code, an open enum: editors complete the known codes, and unknown codes are returned unchanged. */
export type ErrorCode = KnownErrorCode | (string & Record<never, never>);

/** The maximum number of characters of a `serviceMessage`, and of a `code`, which is in every event and line of the log. */
const maxServiceMessageLength = 3_000;
const maxCodeLength = 200;

/** The parts of an error response. */
export interface ApiErrorDetails {
  readonly response: ErrorResponse;
  /** The service's `code`; undefined if the response has none. */
  readonly code?: string | undefined;
  /** The text of the error if the service sent no message. */
  readonly message: string;
  /** The service's `message`; undefined if the response has none. */
  readonly serviceMessage?: string | undefined;
  readonly endpoint: string;
  /** The response's `Retry-After` in milliseconds; undefined without one. */
  readonly retryAfter?: number | undefined;
  /** Whether the client itself refused the request. Nothing was sent. */
  readonly unsent?: boolean;
}

/**
 * The service returned an error status. Each status of the specification (7) has a subclass.
 *
 * @example
 * if (error instanceof ApiError) console.log(error.status, error.code, error.hint);
 */
export class ApiError extends PodPartnerError {
  static override readonly kind: string = "ApiError";
  override readonly status: number;
  declare readonly code: ErrorCode | undefined;
  declare readonly serviceMessage: string | undefined;
  declare readonly hint: string | undefined;
  readonly isRetryable: boolean;
  /** The response: status, headers and body. */
  readonly response: ErrorResponse;
  /** The response's `Retry-After` in milliseconds; undefined without one. */
  declare readonly retryAfter: number | undefined;

  constructor({ response, code, message, serviceMessage, endpoint, retryAfter, unsent = false }: ApiErrorDetails) {
    const hint = hintOf(new.target.kind, code, response);
    const outcome = unsent
      ? "was not sent"
      : `returned ${response.status}${code ? ` ${inOneLine(shorten(code))}` : ""}`;
    const text = inOneLine(shorten(serviceMessage ?? message, 1_000));
    super(`${shorten(endpoint)} ${outcome}: ${text}${hint ? `\n  ${hint}` : ""}`);
    this.status = response.status;
    // 408: a gateway stopped waiting. Where a repeat could do harm, the call ends as an `OutcomeUnknownError` instead.
    this.isRetryable = response.status === 408;
    this.response = response;
    if (code !== undefined) this.code = shorten(code, maxCodeLength);
    if (serviceMessage !== undefined) this.serviceMessage = shorten(serviceMessage, maxServiceMessageLength);
    if (hint !== undefined) this.hint = hint;
    if (retryAfter !== undefined) this.retryAfter = retryAfter;
  }

  override toJSON() {
    return { ...super.toJSON(), ...forLog({ retryAfter: this.retryAfter, response: loggedResponse(this.response) }) };
  }
}

/** 400: the service rejected the request data. */
export class BadRequestError extends ApiError {
  static override readonly kind: string = "BadRequestError";
}

/** 401: the secret key is missing or invalid. */
export class AuthenticationError extends ApiError {
  static override readonly kind: string = "AuthenticationError";
}

/** 403: the key is valid but has no permission for the resource, or the API cannot write to the store. */
export class PermissionDeniedError extends ApiError {
  static override readonly kind: string = "PermissionDeniedError";
}

/** 404: the resource does not exist in this environment. The test and production environments have different references. */
export class NotFoundError extends ApiError {
  static override readonly kind: string = "NotFoundError";
}

/** 409: the current state of the resource does not allow the request. */
export class ConflictError extends ApiError {
  static override readonly kind: string = "ConflictError";
}

/** 410: the resource is archived or no longer available. */
export class GoneError extends ApiError {
  static override readonly kind: string = "GoneError";
}

/** 429: a limit is reached. For `rate_limited`, the SDK waits and retries within the limits of `retry` before it throws. */
export class RateLimitError extends ApiError {
  static override readonly kind: string = "RateLimitError";
  override readonly isRetryable: boolean = true;
}

/** 429 `rendertoken_limit_exceeded`: the remaining rendertokens do not cover the render. The SDK does not wait for the weekly reset. */
export class RendertokenLimitError extends RateLimitError {
  static override readonly kind: string = "RendertokenLimitError";
  override readonly isRetryable: boolean = false;
  /** When the tokens reset, as an ISO 8601 timestamp, from the response's `Retry-After`; undefined without one. */
  readonly resetsAt: string | undefined;

  constructor(details: ApiErrorDetails & { resetsAt: string | undefined }) {
    super(details);
    this.resetsAt = details.resetsAt;
  }

  override toJSON() {
    return { ...super.toJSON(), resetsAt: this.resetsAt };
  }
}

/** 501: the endpoint is not publicly available yet. */
export class NotImplementedError extends ApiError {
  static override readonly kind: string = "NotImplementedError";
}

/** 5xx other than 501: a failure of the service or a gateway. Retry later; contact support if it persists (specification 7). */
export class ServerError extends ApiError {
  static override readonly kind: string = "ServerError";
  override readonly isRetryable: boolean = true;
}

/** 3xx: the server at the base URL redirects. The SDK never follows a redirect, so that the key stays at the base URL's origin. */
export class RedirectError extends ApiError {
  static override readonly kind: string = "RedirectError";
}

/** 202: the render's file is not ready. With the option `wait`, the SDK waits for it. */
export class NotReadyError extends ApiError {
  static override readonly kind: string = "NotReadyError";
  override readonly isRetryable: boolean = true;
}

/** The hints of the classes whose status already says what to do. */
const classHints: Readonly<Record<string, string>> = {
  AuthenticationError:
    "Check `secretKey`: use a v2 key from the dashboard, from the same environment as `baseUrl`. A v1 partner code does not work.",
  PermissionDeniedError:
    "Check the permissions of the key, which is valid, and whether the resource belongs to its organization.",
  ServerError: "Retry later. Contact the service's support if the error persists.",
  NotImplementedError: "The endpoint is not publicly available yet: do without it, or ask the service's support.",
  RedirectError: "Set `baseUrl` to the final URL of the service, one that does not redirect.",
  NotReadyError: "Pass `{ wait: true }`, or call `renders.wait` first.",
};

/** Describes what to do next: the hint of the code, or those of the body and the class. */
function hintOf(kind: string, code: string | undefined, response: ErrorResponse): string | undefined {
  if (code !== undefined && Object.hasOwn(errorCodes, code)) return errorCodes[code as KnownErrorCode];
  const hints = [htmlHint(response), classHints[kind]].filter((hint) => hint !== undefined);
  return hints.join(" ") || undefined;
}

/**
 * Whether an error response comes from the service itself: its code is in lower_snake_case (specification 2.2). A proxy's response has no
 * code, or a code of another form, and does not show the outcome.
 */
export const hasErrorObject = (error: unknown): error is ApiError & { readonly code: string } =>
  ApiError.isInstance(error) && /^[a-z]+(_[a-z0-9]+)*$/.test(error.code ?? "");

/**
 * Whether the service itself confirms that a resource does not exist, or no longer exists (specification 7). A gateway can also return a 404:
 * it has no error object, and proves nothing.
 */
export const isConfirmedMissing = (error: unknown): boolean =>
  hasErrorObject(error) && (error.status === 404 || error.status === 410);
