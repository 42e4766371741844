import { PodPartnerError } from "./base.ts";

/** A download was already read or canceled. A body can be read only once. Nothing was written. */
export class AlreadyReadError extends PodPartnerError {
  static override readonly kind: string = "AlreadyReadError";
  readonly isRetryable = false;
  override readonly hint = "Keep the result of the first read, or repeat the call to get a new download.";

  constructor({ endpoint, use }: { endpoint: string; use: "read" | "canceled" }) {
    super(`The download of ${endpoint} was already ${use}; a body can be read only once.`);
    this.endpoint = endpoint;
  }
}
