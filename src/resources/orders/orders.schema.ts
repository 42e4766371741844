import * as z from "zod/mini";
import type {
  AddressReference,
  ImageReference,
  OrderReference,
  ProductReference,
} from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { array, count, open, strict } from "../../schemas/shape.ts";

/** A key and a value on an orderline. The service returns it unchanged (specification 2.5). */
export interface Annotation {
  /** Your own key. The service does not interpret it. */
  readonly key: string;
  /** Your own value. */
  readonly value: string;
}

/** One line of an order in a response (specification 2.5). */
export interface Orderline {
  /** The number that identifies the line. The first index is 1. */
  readonly index: number;
  readonly productReference: ProductReference;
  /** Missing or null for a product that is not printed. */
  readonly imageReference?: ImageReference | null;
  /** Number of ordered units. */
  readonly quantity: number;
  /** Total number of canceled units. */
  readonly canceledQuantity: number;
  /** Total number of shipped units. Shipped units can no longer be canceled. */
  readonly shippedQuantity: number;
  /** The annotations of the line; empty if it has none. */
  readonly annotations: readonly Annotation[];
  /**
   * The v1 SKU of the product. Missing or null if the service has none.
   *
   * @deprecated The service removes the field in v3 (specification 9.7).
   */
  readonly legacySku?: string | null;
}

/** The status of an order. Its shape and values are not shown: `code` is assumed, and all fields are returned unchanged. */
export interface OrderStatus {
  /** A value of the strict enum `OrderStatusCode`, whose values are not shown (specification 2.4, 9.6). */
  readonly code?: string | null;
}

/** Why production is on hold (specification 2.4). */
export interface OrderHold {
  /** A reason for a person to read. */
  readonly reason: string;
}

/** An order with all details (specification 2.4). */
export interface Order {
  readonly reference: OrderReference;
  /** The status of the order. */
  readonly status: OrderStatus;
  /** The orderlines with their ordered, canceled and shipped quantities. */
  readonly orderlines: readonly Orderline[];
  /** Set while production is on hold; null otherwise. */
  readonly onHold: OrderHold | null;
  /** Changes when the dropship address is replaced. Missing or null on a combined order. */
  readonly dropshipAddressReference?: AddressReference | null;
  /**
   * The v1 order code, `<store_code>-<number>`.
   *
   * @deprecated The service removes the field in v3 (specification 9.7).
   */
  readonly legacyOrderCode: string;
}

/** An order in a list. The specification shows only `reference`; other fields are returned unchanged. */
export interface OrderSummary {
  readonly reference: OrderReference;
}

const annotation = () => open<Annotation>({ key: z.string(), value: z.string() });

const orderline = () =>
  open<Orderline>({
    index: count(1),
    productReference: reference("Product"),
    imageReference: z.nullish(reference("Image")),
    quantity: count(0),
    canceledQuantity: count(0),
    shippedQuantity: count(0),
    annotations: array(annotation()),
    legacySku: z.nullish(z.string()),
  });

export const order = () =>
  open<Order>({
    reference: reference("Order"),
    status: open<OrderStatus>({ code: z.nullish(z.string()) }),
    orderlines: array(orderline()),
    onHold: z.nullable(open<OrderHold>({ reason: z.string() })),
    dropshipAddressReference: z.nullish(reference("Address")),
    legacyOrderCode: z.string(),
  });

export const orderSummary = () => open<OrderSummary>({ reference: reference("Order") });

/** The cancellation of one orderline (specification 4.7). Orderlines that are not listed keep their value. */
export interface Cancellation {
  /** The `index` of the orderline. */
  readonly index: number;
  /** The desired absolute total of canceled units of the line, not a difference. */
  readonly canceledQuantity: number;
}

export const cancellations = () =>
  array(strict<Cancellation>({ index: count(1), canceledQuantity: count(0) })).check(
    z.minLength(1, { error: "expected at least one orderline to cancel" }),
  );
