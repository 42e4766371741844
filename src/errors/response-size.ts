import { PodPartnerError } from "./base.ts";

/** An answer's JSON or text is larger than `maxResponseSize`. Its body was let go. Downloads have no such bound. */
export class ResponseTooLargeError extends PodPartnerError {
  static override readonly kind: string = "ResponseTooLargeError";
  readonly isRetryable = false;
  override readonly status: number;
  override readonly hint = "Raise the client's `maxResponseSize` if an answer of this size is right.";

  constructor({ endpoint, limit, status }: { endpoint: string; limit: number; status: number }) {
    super(`The answer to ${endpoint} (${status}) is larger than ${limit} bytes (option \`maxResponseSize\`).`);
    this.status = status;
  }
}
