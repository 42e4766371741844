import { PodPartnerError } from "./base.ts";

/** The fields of an orderline that are compared. */
export interface ComparedLine {
  readonly productReference: string;
  readonly imageReference?: string | null | undefined;
  readonly quantity: number;
}

/** An order whose lines are compared. */
export interface ComparedOrder {
  readonly reference: string;
  readonly orderlines: readonly ComparedLine[];
}

/**
 * An order with this `customIdentifier` already exists with other lines. No order was placed.
 */
export class OrderMismatchError extends PodPartnerError {
  static override readonly kind: string = "OrderMismatchError";
  readonly isRetryable = false;
  override readonly hint =
    "Use another `customIdentifier` for a different order, or pass `{ compare: false }` to accept the existing order.";
  /** The existing order. */
  readonly existing: ComparedOrder;
  /** The requested lines. */
  readonly requested: readonly ComparedLine[];

  constructor(details: {
    readonly customIdentifier: string;
    readonly existing: ComparedOrder;
    readonly requested: readonly ComparedLine[];
  }) {
    const { customIdentifier, existing, requested } = details;
    super(
      `The order ${existing.reference} already has the customIdentifier ${customIdentifier}, with other orderlines.`,
    );
    this.existing = existing;
    this.requested = requested;
  }

  override toJSON() {
    return { ...super.toJSON(), existing: this.existing, requested: this.requested };
  }
}
