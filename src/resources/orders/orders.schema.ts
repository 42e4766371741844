import * as z from "zod/mini";
import type {
  AddressReference,
  ImageReference,
  OrderReference,
  ProductReference,
} from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { count, open, strict } from "../../schemas/shape.ts";

/** What an order may carry along on a line: returned unchanged (specification 2.5). */
export interface Annotation {
  /** Yours; its meaning is not the service's. */
  readonly key: string;
  /** Yours. */
  readonly value: string;
}

/** A line of an order as the service returns it (specification 2.5). */
export interface Orderline {
  /** Starts at 1; identifies the line. */
  readonly index: number;
  readonly productReference: ProductReference;
  /** Missing or null for a product that is not printed. */
  readonly imageReference?: ImageReference | null;
  /** Units ordered. */
  readonly quantity: number;
  /** Units of them that were canceled, in all. */
  readonly canceledQuantity: number;
  /** Units of them that were shipped, in all: these can no longer be canceled. */
  readonly shippedQuantity: number;
  /** Always there; empty when none were given. */
  readonly annotations: readonly Annotation[];
  /** The v1 SKU. Removed in v3. */
  readonly legacySku?: string | null;
}

/** Where an order stands. Its shape and its values are not shown: `code` is assumed, everything is passed on as it comes. */
export interface OrderStatus {
  /** One of a strict enum whose values are not shown (specification 9.6). */
  readonly code?: string;
}

/** Why production is on hold (specification 2.4). */
export interface OrderHold {
  /** For people to read. */
  readonly reason: string;
}

/** An order in full (specification 2.4). */
export interface Order {
  readonly reference: OrderReference;
  /** Where it stands. */
  readonly status: OrderStatus;
  /** What was ordered, and how far each line is. */
  readonly orderlines: readonly Orderline[];
  /** Set while production is on hold; null otherwise. */
  readonly onHold: OrderHold | null;
  /** Changes when the dropship address is replaced. Missing or null on a combined order. */
  readonly dropshipAddressReference?: AddressReference | null;
  /** `<store_code>-<number>`. Removed in v3. */
  readonly legacyOrderCode: string;
}

/** An order as a list gives it. Only `reference` is certain: further fields are not shown and passed on as they come. */
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
    annotations: z.array(annotation()),
    legacySku: z.nullish(z.string()),
  });

export const order = () =>
  open<Order>({
    reference: reference("Order"),
    status: open<OrderStatus>({ code: z.optional(z.string()) }),
    orderlines: z.array(orderline()),
    onHold: z.nullable(open<OrderHold>({ reason: z.string() })),
    dropshipAddressReference: z.nullish(reference("Address")),
    legacyOrderCode: z.string(),
  });

export const orderSummary = () => open<OrderSummary>({ reference: reference("Order") });

/** One line to cancel (specification 4.7). Lines that are not named keep what they have. */
export interface Cancellation {
  /** The line's `index`. */
  readonly index: number;
  /** The absolute total that shall be canceled of the line, not a difference. */
  readonly canceledQuantity: number;
}

export const cancellations = () =>
  z
    .array(strict<Cancellation>({ index: count(1), canceledQuantity: count(0) }))
    .check(z.minLength(1, { error: "name at least one line to cancel" }));
