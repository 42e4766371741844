import { PodPartnerError } from "./base.ts";

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
