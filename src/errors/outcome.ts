import { PodPartnerError } from "./base.ts";

/**
 * The response to a creation or a change was lost, and look-ups could not find out whether the service carried it out. A creation was not
 * sent again. A repeated change was refused: `cause`. Use `identifiers` to find out.
 */
export class OutcomeUnknownError extends PodPartnerError {
  static override readonly kind: string = "OutcomeUnknownError";
  /**
   * Whether repeating the same call does no harm. True for `orders.ensure`, which looks up the order before it sends, and for changes of an
   * order, which are absolute.
   */
  readonly isRetryable: boolean;
  override readonly hint: string;
  /** Identifies the resource, for an order by its `customIdentifier`. */
  override identifiers: Readonly<Record<string, unknown>>;

  constructor(details: {
    endpoint: string;
    how: string;
    identifiers: Readonly<Record<string, unknown>>;
    isRetryable: boolean;
    cause: unknown;
  }) {
    super(
      `The response to ${details.endpoint} was lost. The service may or may not have carried out the request. ${details.how}`,
      {
        cause: details.cause,
      },
    );
    this.isRetryable = details.isRetryable;
    this.hint = details.how;
    this.identifiers = details.identifiers;
  }
}
