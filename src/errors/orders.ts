import { forLog, PodPartnerError } from "./base.ts";
import { formatPath } from "./validation.ts";

/**
 * The response to a creation or a change was lost, and look-ups could not find out whether the service carried it out. A creation was not
 * sent again. A change was sent again and refused, with the error in `cause`. Use `identifiers` to find out.
 */
export class OutcomeUnknownError extends PodPartnerError {
  static override readonly kind: string = "OutcomeUnknownError";
  /**
   * Whether the same call can be repeated without harm. True for `orders.ensure`, which looks up the order before it sends, and for changes of
   * an order, which are absolute.
   */
  readonly isRetryable: boolean;
  /** Whether the response was lost because of a time limit. */
  override readonly isTimeout: boolean;
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
    this.isTimeout = PodPartnerError.isInstance(details.cause) && details.cause.isTimeout;
    this.hint = details.how;
    this.identifiers = details.identifiers;
  }
}

/** An orderline of a compared order. */
export interface ComparedLine {
  readonly productReference: string;
  readonly imageReference?: string | null | undefined;
  readonly quantity: number;
}

/** An order that is compared. */
export interface ComparedOrder {
  readonly reference: string;
  readonly orderlines: readonly ComparedLine[];
}

/** One field of an order that differs. */
export interface OrderDifference {
  /** The path of the field in the requested order, for example `["orderlines", 0, "quantity"]`. */
  readonly path: readonly (string | number)[];
  /** The value of the existing order; undefined if it has none. Always undefined for a field of an address, because it is personal data. */
  readonly existing: unknown;
  /** The requested value; undefined if there is none. Always undefined for a field of an address. */
  readonly requested: unknown;
}

/** Maximum number of differences in the message, and in the error. */
const limits = { named: 5, kept: 100 };

const written = (value: unknown): string => JSON.stringify(value).slice(0, 80);

const isPlain = (value: unknown): boolean => typeof value === "string" || typeof value === "number";

const named = ({ path, existing, requested }: OrderDifference): string =>
  formatPath(path) +
  (isPlain(existing) && isPlain(requested) ? ` (${written(existing)}, not ${written(requested)})` : "");

function listed(differences: readonly OrderDifference[]): string {
  const first = differences.slice(0, limits.named).map(named).join(", ");
  const more = differences.length - limits.named;
  return more > 0 ? `${first} and ${more} more` : first;
}

/**
 * An order with this `customIdentifier` already exists with other content: see `differences`. No order was placed.
 */
export class OrderMismatchError extends PodPartnerError {
  static override readonly kind: string = "OrderMismatchError";
  readonly isRetryable = false;
  override readonly hint: string;
  /** The existing order. */
  readonly existing: ComparedOrder;
  /** The requested lines. */
  readonly requested: readonly ComparedLine[];
  /** The fields that differ, at most 100. */
  readonly differences: readonly OrderDifference[];

  constructor(details: {
    readonly customIdentifier: string;
    readonly existing: ComparedOrder;
    readonly requested: readonly ComparedLine[];
    readonly differences: readonly OrderDifference[];
  }) {
    const { customIdentifier, existing, requested, differences } = details;
    super(
      `The order ${existing.reference} already has the customIdentifier ${customIdentifier.slice(0, 80)}, and differs in ${listed(differences)}.`,
    );
    // The service may return more of an order, such as its address.
    this.existing = { reference: existing.reference, orderlines: existing.orderlines };
    this.requested = requested;
    this.differences = differences.slice(0, limits.kept);
    this.hint = differences.every(({ path }) => path[0] === "dropshipAddress")
      ? 'Only the address differs. To change it, call `orders.replaceDropshipAddress(error.existing.reference, address)`. If it was replaced on purpose, pass `{ compare: "lines" }`. Another `customIdentifier` would place a second order.'
      : "Use another `customIdentifier` for a different order, or pass `{ compare: false }` to accept the existing order.";
  }

  override toJSON() {
    const { existing, requested, differences } = this;
    return { ...super.toJSON(), ...forLog({ existing, requested, differences }) };
  }
}
