import type { AddressReference } from "../references/references.ts";
import type { Order } from "../resources/orders/orders.schema.ts";

/** What is new about an order. Quantities are totals of the line; they never decrease from one change to the next. */
export type OrderChange =
  /** Units of a line were shipped. */
  | { readonly kind: "shipped"; readonly index: number; readonly from: number; readonly to: number }
  /** Units of a line were canceled. */
  | { readonly kind: "canceled"; readonly index: number; readonly from: number; readonly to: number }
  /** Production is on hold, or the reason of the hold is another one. */
  | { readonly kind: "held"; readonly reason: string }
  /** The hold has ended. */
  | { readonly kind: "released" }
  /** Every orderline is shipped or canceled (specification 3.4). */
  | { readonly kind: "completed" }
  /** The dropship address was replaced. */
  | {
      readonly kind: "addressReplaced";
      readonly from: AddressReference | null;
      readonly to: AddressReference | null;
    }
  /** The status has changed, or is known for the first time. `from` and `to` are its `code`. */
  | { readonly kind: "status"; readonly from: string | undefined; readonly to: string | undefined }
  /** Any other field has changed, also one that the SDK does not know. */
  | { readonly kind: "other" };

/** The totals of a line. */
export interface FollowedLine {
  readonly index: number;
  readonly quantity: number;
  readonly shippedQuantity: number;
  readonly canceledQuantity: number;
}

/** What the follower remembers of an order. */
export interface FollowedOrder {
  readonly orderlines: readonly FollowedLine[];
  readonly held: boolean;
  /** The `code` of the status; undefined if it has none. */
  readonly statusCode: string | undefined;
  readonly dropshipAddressReference: AddressReference | null;
  readonly completed: boolean;
}

/** An order with what is new about it. */
export interface OrderChanged {
  /** The order as it is now. */
  readonly order: Order;
  /** The order as it was when it was last handed over; undefined for the first time. */
  readonly previous: FollowedOrder | undefined;
  /** What is new since then, at least one change. */
  readonly changes: readonly OrderChange[];
  /** Aborts at the `timeout`, with a `DeadlineError`. */
  readonly signal: AbortSignal;
}

/** An order that the service no longer has. */
export interface OrderGone {
  readonly orderReference: Order["reference"];
  /** The order as it was when it was last handed over; undefined if it never was. */
  readonly previous: FollowedOrder | undefined;
  /** The error of the service: a `NotFoundError` or `GoneError` with a code. */
  readonly error: unknown;
  /** Aborts at the `timeout`, with a `DeadlineError`. */
  readonly signal: AbortSignal;
}

/**
 * What a look at an order has found: nothing new, a change that was handed over, an order that the service no longer has, or one that it
 * never had (or does not have yet).
 */
export type LookResult = "unchanged" | "changed" | "gone" | "missing";
