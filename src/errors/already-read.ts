import { PodPartnerError } from "./base.ts";

/** A download was read, or let go, before: its body comes over the wire and is there once. Nothing was written. */
export class AlreadyReadError extends PodPartnerError {
  static override readonly kind: string = "AlreadyReadError";
  readonly isRetryable = false;
  override readonly hint = "Keep what the first read gives, or make the call again for a new download.";

  constructor({ endpoint, use }: { endpoint: string; use: "read" | "canceled" }) {
    super(`The download of ${endpoint} was ${use} before, and its body is there once: read it in one way.`);
    this.endpoint = endpoint;
  }
}
