import { PodPartnerError } from "./base.ts";
import { type ErrorCode, hintFor } from "./codes.ts";
import type { ErrorResponse } from "./response.ts";

/** What an error answer is made of. */
export interface ApiErrorDetails {
  readonly response: ErrorResponse;
  /** The service's `code`; undefined where the answer had none. */
  readonly code?: string | undefined;
  /** The service's `message`, or words for the lack of one. */
  readonly message: string;
  readonly endpoint: string;
  /** Milliseconds that the answer's `Retry-After` asks to wait; undefined without one. */
  readonly retryAfter?: number | undefined;
  /** Whether this client itself refuses: nothing was sent. */
  readonly unsent?: boolean;
}

/** The service answered with an error status. Each status of the specification has a class of its own below this one. */
export class ApiError extends PodPartnerError {
  static override readonly kind: string = "ApiError";
  override readonly status: number;
  override readonly code: ErrorCode | undefined;
  override readonly hint: string | undefined;
  readonly isRetryable: boolean = false;
  /** What came back: status, headers and body. */
  readonly response: ErrorResponse;
  /** Milliseconds that the answer's `Retry-After` asks to wait; undefined without one. */
  readonly retryAfter: number | undefined;

  constructor({ response, code, message, endpoint, retryAfter, unsent = false }: ApiErrorDetails) {
    const hint = hintFor(code);
    const outcome = unsent ? "was not sent" : `answered ${response.status}${code ? ` ${code}` : ""}`;
    super(`${endpoint} ${outcome}: ${message}${hint ? `\n  ${hint}` : ""}`);
    this.status = response.status;
    this.code = code;
    this.hint = hint;
    this.response = response;
    this.retryAfter = retryAfter;
  }

  override toJSON() {
    return { ...super.toJSON(), retryAfter: this.retryAfter, response: this.response };
  }
}

/** 400: the request's data is invalid in the service's eyes. */
export class BadRequestError extends ApiError {
  static override readonly kind: string = "BadRequestError";
}

/** 401: the secret key is missing or invalid. */
export class AuthenticationError extends ApiError {
  static override readonly kind: string = "AuthenticationError";
  override readonly hint =
    "Check `secretKey`: a v2 key from the dashboard, of the environment that `baseUrl` names. A v1 partner code does not work.";
}

/** 403: the key is valid but has no permission for this, or the store cannot be written through the API. */
export class PermissionDeniedError extends ApiError {
  static override readonly kind: string = "PermissionDeniedError";
}

/** 404: there is no such resource. References of the test and the production environment differ. */
export class NotFoundError extends ApiError {
  static override readonly kind: string = "NotFoundError";
}

/** 409: the resource's present state does not allow this. */
export class ConflictError extends ApiError {
  static override readonly kind: string = "ConflictError";
}

/** 410: the resource is archived or no longer available. */
export class GoneError extends ApiError {
  static override readonly kind: string = "GoneError";
}

/** 429: a limit is reached. `rate_limited` is waited for by the SDK itself as long as `retry` allows. */
export class RateLimitError extends ApiError {
  static override readonly kind: string = "RateLimitError";
  override readonly isRetryable: boolean = true;
}

/** 429 `rendertoken_limit_exceeded`: the week's rendertokens do not cover the render. Never waited for by the SDK. */
export class RendertokenLimitError extends RateLimitError {
  static override readonly kind: string = "RendertokenLimitError";
  override readonly isRetryable: boolean = false;
  /** When the tokens come back, by the answer's `Retry-After`; undefined when it had none. */
  readonly resetsAt: Date | undefined;

  constructor(details: ApiErrorDetails & { now: number }) {
    super(details);
    this.resetsAt = details.retryAfter === undefined ? undefined : new Date(details.now + details.retryAfter);
  }

  override toJSON() {
    return { ...super.toJSON(), resetsAt: this.resetsAt };
  }
}

/** 501: the endpoint is not publicly available yet. */
export class NotImplementedError extends ApiError {
  static override readonly kind: string = "NotImplementedError";
}

/** 5xx other than 501: undocumented. Try later; contact support if it persists. */
export class ServerError extends ApiError {
  static override readonly kind: string = "ServerError";
  override readonly isRetryable: boolean = true;
  override readonly hint = "Try again later; contact the service's support if it persists.";
}

/** 3xx: the base URL points to somewhere that redirects. Never followed, so that the key goes nowhere else. */
export class RedirectError extends ApiError {
  static override readonly kind: string = "RedirectError";
  override readonly hint = "Set `baseUrl` to the address that answers itself.";
}

/** 202: the render's files are not ready. Pass `wait` to let the SDK wait for them. */
export class NotReadyError extends ApiError {
  static override readonly kind: string = "NotReadyError";
  override readonly isRetryable: boolean = true;
  override readonly hint = "Pass `{ wait: true }`, or call `renders.wait` first.";
}
