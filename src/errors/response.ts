import { PodPartnerError, shorten } from "./base.ts";

/** A response, as errors keep it. The secret key is redacted wherever the response repeats it. */
export interface ErrorResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON, or the text if it is not JSON; undefined for an empty body. */
  readonly body: unknown;
}

/** Maximum characters of a body in a log. */
const maxLoggedBody = 4_000;

/** A response for a log. Of a larger body, it has the beginning of its text. */
export function loggedResponse(response: ErrorResponse): ErrorResponse {
  const { body } = response;
  const text = typeof body === "string" ? body : (JSON.stringify(body) ?? "");
  return text.length <= maxLoggedBody ? response : { ...response, body: shorten(text, maxLoggedBody) };
}

const isHtml = ({ headers, body }: ErrorResponse): boolean =>
  typeof body === "string" &&
  (/^text\/html\b/i.test(headers["content-type"] ?? "") || /^\s*<(!doctype )?html\b/i.test(body));

/** Says what to check when an HTML page arrives in place of JSON; undefined for any other response. */
export const htmlHint = (response: ErrorResponse): string | undefined =>
  isHtml(response)
    ? "The response is an HTML page, so it comes from a proxy, a gateway or another website. Check `baseUrl` and the proxy."
    : undefined;

/** A JSON or text response is larger than `maxResponseSize` bytes. The SDK canceled its body. Downloads have no such limit. */
export class ResponseTooLargeError extends PodPartnerError {
  static override readonly kind: string = "ResponseTooLargeError";
  readonly isRetryable = false;
  override readonly status: number;
  override readonly hint = "Raise the client's `maxResponseSize` if a response of this size is valid.";

  constructor({ endpoint, limit, status }: { endpoint: string; limit: number; status: number }) {
    super(`The response to ${endpoint} (${status}) is larger than ${limit} bytes (option \`maxResponseSize\`).`);
    this.status = status;
  }
}

/** A download was already read or canceled, or outcomes were already iterated. Each can be read only once. Nothing was written. */
export class AlreadyReadError extends PodPartnerError {
  static override readonly kind: string = "AlreadyReadError";
  readonly isRetryable = false;
  override readonly hint = "Keep the result of the first read, or repeat the call.";

  constructor({ endpoint, what, use }: { endpoint: string; what: "download" | "outcomes"; use: "read" | "canceled" }) {
    const [were, it] = what === "download" ? ["was", "a body"] : ["were", "they"];
    super(`The ${what} of ${endpoint} ${were} already ${use}; ${it} can be read only once.`);
    this.endpoint = endpoint;
  }
}

/** The service repeated a cursor in one chain of pages (specification 4.11). The iteration stops, because it would never end. */
export class CursorLoopError extends PodPartnerError {
  static override readonly kind: string = "CursorLoopError";
  readonly isRetryable = true;
  override readonly hint: string = "Repeat the call. Contact the service's support if the error persists.";

  constructor({ endpoint }: { endpoint: string }) {
    super(`${endpoint} returned the same nextCursor twice. The iteration stopped, because it would never end.`);
    this.endpoint = endpoint;
  }
}
