import { PodPartnerError } from "./base.ts";

/**
 * The answer to a creation was lost and looking it up could not decide: it may or may not exist.
 * It was not sent again. `identifiers` carries what is needed to find out.
 */
export class OutcomeUnknownError extends PodPartnerError {
  static override readonly kind: string = "OutcomeUnknownError";
  /** Whether the same call can be repeated without harm: true for `orders.ensure`, which looks before it sends. */
  readonly isRetryable: boolean;
  override readonly hint: string;
  /** What was sent, or what identifies it: for an order its `customIdentifier`. */
  override identifiers: Readonly<Record<string, unknown>>;

  constructor(details: {
    endpoint: string;
    how: string;
    identifiers: Readonly<Record<string, unknown>>;
    isRetryable: boolean;
    cause: unknown;
  }) {
    super(`The answer to ${details.endpoint} was lost: it may or may not have been carried out. ${details.how}`, {
      cause: details.cause,
    });
    this.isRetryable = details.isRetryable;
    this.hint = details.how;
    this.identifiers = details.identifiers;
  }
}
