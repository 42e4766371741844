import * as z from "zod/mini";
import { assumed, cursor, endpoint, field, json, nothing, page } from "../../http/endpoint.ts";
import type {
  AddressReference,
  ImageReference,
  OrderReference,
  ProductReference,
  StoreReference,
} from "../../references/references.ts";
import {
  type AddressInput,
  addressInput,
  type CompleteAddress,
  completeAddressInput,
  countryWarning,
  type QuoteAddressInput,
  quoteAddressInput,
} from "../../schemas/address.ts";
import { type Assumptions, assumptions } from "../../schemas/assumptions.ts";
import { addIssue, array, count, descriptive, filledText, open, reference, strict, text } from "../../schemas/shape.ts";
import { isObject, isRecord, propertyOf } from "../../util/foreign.ts";

/** The shipping levels, from lowest to highest (specification 4.7). */
export const shippingLevels = ["basic", "tracked", "express"] as const;

/** The shipping level: `basic` (no tracking), `tracked`, or `express` (faster, with tracking) (specification 1). A strict enum (9.6). */
export type ShippingLevel = (typeof shippingLevels)[number];
const shippingLevel = () => z.enum(shippingLevels);

/** The orderlines of an order or a quote: at least one. */
const orderlines = <Line>(line: z.ZodMiniType<Line>) =>
  array(line).check(z.minLength(1, { error: "expected at least one orderline" }));

/** The kinds of shipping (specification 1). */
const shippingKinds = ["dropship", "combined"] as const;

/** Adds the rules for shipping kind, address and shipping level. They are reported together with the faults of single fields. */
function byShippingKind(fields: z.core.$ZodLooseShape, address: z.core.$ZodType): z.ZodMiniType {
  const has = (value: object, field: string) => Reflect.get(value, field) !== undefined;
  const rule = (kind: (typeof shippingKinds)[number], holds: (value: object) => boolean, path: string, error: string) =>
    z.refine((value) => Reflect.get(Object(value), "shippingKind") !== kind || holds(Object(value)), {
      path: [path],
      error,
      when: ({ value }) => typeof value === "object" && value !== null,
    });
  return z
    .strictObject({
      ...fields,
      shippingKind: z.enum(shippingKinds),
      dropshipAddress: z.optional(address),
      dropshipMinimalShippingLevel: z.optional(shippingLevel()),
    })
    .check(
      rule(
        "dropship",
        (order) => has(order, "dropshipAddress"),
        "dropshipAddress",
        "is required for a dropship order (missing_address)",
      ),
      rule(
        "combined",
        (order) => !has(order, "dropshipAddress"),
        "dropshipAddress",
        "is not allowed for a combined order, which ships to the store's combined address",
      ),
      rule(
        "combined",
        (order) => !has(order, "dropshipMinimalShippingLevel"),
        "dropshipMinimalShippingLevel",
        "is not allowed for a combined order, which has no shipping level",
      ),
    );
}

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
    annotations: descriptive(array(annotation())),
    legacySku: z.nullish(text()),
  });

const order = () =>
  open<Order>({
    reference: reference("Order"),
    status: descriptive(open<OrderStatus>({ code: z.nullish(z.string()) })),
    orderlines: array(orderline()),
    onHold: descriptive(z.nullable(open<OrderHold>({ reason: z.string() }))),
    dropshipAddressReference: z.nullish(reference("Address")),
    legacyOrderCode: text(),
  });

const orderSummary = () => open<OrderSummary>({ reference: reference("Order") });

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
    (context) => {
      const seen = new Set<number>();
      for (const [position, { index }] of context.value.entries()) {
        if (seen.has(index)) addIssue(context, { path: [position, "index"], message: `${index} is listed twice` });
        seen.add(index);
      }
    },
  );

/** One line of a new order (specification 2.5). */
export interface OrderlineInput {
  readonly productReference: ProductReference;
  /** Required for a printed product. Not allowed for a product without print. */
  readonly imageReference?: ImageReference | undefined;
  /** Number of units, at least 1. */
  readonly quantity: number;
  /** Your own keys and values, at most 10. The service returns them unchanged. */
  readonly annotations?: readonly Annotation[] | undefined;
}

interface OrderInputBase {
  /** A store whose `integration` is `api`. */
  readonly storeReference: StoreReference;
  /** Your identifier, unique per order. The SDK uses it to avoid a duplicate order. Default: a new ULID. */
  readonly customIdentifier?: string | undefined;
  /** The orderlines, at least one. */
  readonly orderlines: readonly OrderlineInput[];
}

/** An order that is shipped to one customer in its own shipment (specification 1, 2.4). */
export interface DropshipOrderInput extends OrderInputBase {
  /** Ships to a customer's address. */
  readonly shippingKind: "dropship";
  /**
   * The customer's address. `email` must not be empty, nor `state` in the United States and Italy (specification 2.3). The names, street,
   * postal code and city must be present: set `""` if there is none.
   */
  readonly dropshipAddress: AddressInput;
  /** The minimum shipping level. Default `basic`. */
  readonly dropshipMinimalShippingLevel?: ShippingLevel | undefined;
}

/** An order that is shipped together with other orders to the store's combined address. It has no address and no shipping level. */
export interface CombinedOrderInput extends OrderInputBase {
  /** Ships to the store's combined address. */
  readonly shippingKind: "combined";
  readonly dropshipAddress?: undefined;
  readonly dropshipMinimalShippingLevel?: undefined;
}

/** A new order (specification 2.4). The fields for brand and packaging are not shown: pass them with the option `body`. */
export type OrderInput = DropshipOrderInput | CombinedOrderInput;

/** The service's response to a creation. */
export interface CreatedOrder {
  readonly reference: OrderReference;
}
const createdOrder = () => open<CreatedOrder>({ reference: reference("Order") });

const orderlineInput = () =>
  strict<OrderlineInput>({
    productReference: reference("Product"),
    imageReference: z.optional(reference("Image")),
    quantity: count(1),
    annotations: z.optional(
      array(strict<Annotation>({ key: z.string(), value: z.string() })).check(
        z.maxLength(10, { error: "at most 10 annotations per orderline" }),
      ),
    ),
  });

const orderInput = () =>
  byShippingKind(
    {
      storeReference: reference("Store"),
      customIdentifier: z.optional(filledText()),
      orderlines: orderlines(orderlineInput()),
    },
    addressInput(),
  );

/** One line of a quote. It has only the fields that determine shipping (specification 4.7). */
export interface QuoteLineInput {
  readonly productReference: ProductReference;
  /** Number of units, at least 1. */
  readonly quantity: number;
}

interface QuoteInputBase {
  /** A store whose `integration` is `api`. */
  readonly storeReference: StoreReference;
  /** The orderlines, at least one. */
  readonly orderlines: readonly QuoteLineInput[];
}

/** A quote request for a dropship order (specification 4.7). */
export interface DropshipQuoteInput extends QuoteInputBase {
  /** Ships to a customer's address. */
  readonly shippingKind: "dropship";
  /** The destination. Only `countryCode` is required, but other fields can change the result: a parcel locker allows only `tracked`. */
  readonly dropshipAddress: QuoteAddressInput;
  /** The minimum shipping level. The service raises or lowers it if destination, weight or order value require it. Default `basic`. */
  readonly dropshipMinimalShippingLevel?: ShippingLevel | undefined;
}

/** A quote request for a combined order. The result is an empty list (specification 4.7). */
export interface CombinedQuoteInput extends QuoteInputBase {
  /** Ships to the store's combined address. */
  readonly shippingKind: "combined";
  readonly dropshipAddress?: undefined;
  readonly dropshipMinimalShippingLevel?: undefined;
}

/** A quote request (specification 4.7). The service stores nothing. */
export type QuoteInput = DropshipQuoteInput | CombinedQuoteInput;

const quoteInput = () =>
  byShippingKind(
    {
      storeReference: reference("Store"),
      orderlines: orderlines(strict<QuoteLineInput>({ productReference: reference("Product"), quantity: count(1) })),
    },
    quoteAddressInput(),
  );

/** A shipping level with its price (specification 4.7). */
export interface ShippingOption {
  /** The shipping level. */
  readonly level: ShippingLevel;
  /** The price in EUR cents. */
  readonly price: number;
}
const shippingOption = () => open<ShippingOption>({ level: shippingLevel(), price: z.int() });

const destinationWarning = (order: unknown) => countryWarning(propertyOf(order, "dropshipAddress"));

export const createOrder = endpoint({
  call: "orders.create",
  method: "POST",
  path: "/orders",
  request: json<OrderInput>("order", orderInput),
  response: field("order", createdOrder),
  repeat: "recoverable",
  warningFor: destinationWarning,
});

export const listOrders = endpoint({
  call: "orders.list",
  method: "GET",
  path: "/orders",
  query: cursor,
  response: page("orders", orderSummary),
  repeat: "safe",
});

export const getOrder = endpoint({
  call: "orders.get",
  method: "GET",
  path: "/orders/{orderReference}",
  response: field("order", order),
  repeat: "safe",
});

export const cancelOrder = endpoint({
  call: "orders.cancel",
  method: "POST",
  path: "/orders/{orderReference}/cancel",
  request: json<readonly Cancellation[]>("orderlines", cancellations),
  response: nothing,
  repeat: "idempotent",
});

export const replaceDropshipAddress = endpoint({
  call: "orders.replaceDropshipAddress",
  method: "PUT",
  path: "/orders/{orderReference}/dropship-address",
  request: json<CompleteAddress>("dropshipAddress", completeAddressInput),
  response: nothing,
  repeat: "idempotent",
  warningFor: countryWarning,
});

export const quoteOrder = endpoint({
  call: "orders.quote",
  method: "POST",
  path: "/quote",
  request: json<QuoteInput>("quote", quoteInput),
  response: field("shippingOptions", () => array(shippingOption())),
  repeat: "safe",
  warningFor: destinationWarning,
});

export const lookupOrderBy = ({ customIdentifierParameter, orderReferenceField, noOrder }: Assumptions) =>
  endpoint({
    call: "orders.lookup",
    method: "GET",
    path: "/utilities/lookup-order-reference-by-custom-identifier",
    query: { [customIdentifierParameter]: filledText },
    response: {
      ...assumed<OrderReference | null>(
        field(orderReferenceField, () => reference("Order")),
        orderReferenceIn,
      ),
      saysNone: (body: unknown) =>
        noOrder.includes(body === undefined ? "empty" : "null") && isNone(body, orderReferenceField),
    },
    repeat: "safe",
  });

/** Finds the order reference in a response without the assumed field: in `reference`, `order.reference` or `order`. */
function orderReferenceIn(body: unknown): unknown {
  const response: Readonly<Record<string, unknown>> = Object(body);
  const order: Readonly<Record<string, unknown>> = Object(response.order);
  return response.reference ?? order.reference ?? response.order;
}

/** Whether a response says that there is no order. Any other form without the field could hide one. */
function isNone(body: unknown, field: string): boolean {
  if (body === undefined || body === null) return true;
  if (!isRecord(body)) return false;
  const others = Object.values(body).filter((value) => value !== null);
  const isHarmless = (value: unknown) => !isObject(value) && !String(value).includes("Order_");
  return others.length === 0 || (body[field] === null && others.every(isHarmless));
}

export const lookupOrder = lookupOrderBy(assumptions);
