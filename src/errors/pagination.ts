import { PodPartnerError } from "./base.ts";

/** The service gave a cursor that it had given before in the same chain of pages: going on would never end. */
export class CursorLoopError extends PodPartnerError {
  static override readonly kind: string = "CursorLoopError";
  readonly isRetryable = true;

  constructor({ endpoint }: { endpoint: string }) {
    super(`${endpoint} gave the same nextCursor twice: the iteration was stopped instead of going round for ever.`);
    this.endpoint = endpoint;
  }
}
