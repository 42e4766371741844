import { PodPartnerError } from "./base.ts";

/** What is compared of an orderline. */
export interface ComparedLine {
  readonly productReference: string;
  readonly imageReference?: string | null | undefined;
  readonly quantity: number;
}

/** An order of which the lines are compared. */
export interface ComparedOrder {
  readonly reference: string;
  readonly orderlines: readonly ComparedLine[];
}

/**
 * An order with this `customIdentifier` exists, and its lines differ from the requested ones. Nothing was placed.
 */
export class OrderMismatchError extends PodPartnerError {
  static override readonly kind: string = "OrderMismatchError";
  readonly isRetryable = false;
  override readonly hint =
    "Use another `customIdentifier` for another order, or pass `{ compare: false }` to accept the order that exists.";
  /** The order that exists. */
  readonly existing: ComparedOrder;
  /** The lines that were requested. */
  readonly requested: readonly ComparedLine[];

  constructor(details: {
    readonly customIdentifier: string;
    readonly existing: ComparedOrder;
    readonly requested: readonly ComparedLine[];
  }) {
    const { customIdentifier, existing, requested } = details;
    super(
      `The order ${existing.reference} has the customIdentifier ${customIdentifier} already, with other orderlines.`,
    );
    this.existing = existing;
    this.requested = requested;
  }

  override toJSON() {
    return { ...super.toJSON(), existing: this.existing, requested: this.requested };
  }
}
