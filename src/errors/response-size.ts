import { PodPartnerError } from "./base.ts";

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
