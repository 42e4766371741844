import * as z from "zod/mini";
import type { ImageReference, OrderReference, ProductReference, StoreReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { type AddressInput, addressInput, type QuoteAddressInput, quoteAddressInput } from "../../schemas/address.ts";
import { count, filledText, open, strict } from "../../schemas/shape.ts";
import type { Annotation } from "./orders.schema.ts";

/** The shipping levels, from lowest to highest (specification 4.7). */
export const shippingLevels = ["basic", "tracked", "express"] as const;

/** The shipping level: `basic` (no tracking), `tracked`, or `express` (faster, with tracking) (specification 1). A strict enum (9.6). */
export type ShippingLevel = (typeof shippingLevels)[number];
const shippingLevel = () => z.enum(shippingLevels);

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
  /** The customer's address. `email` is required; `state` is required in the United States and Italy (specification 2.3). */
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
export const createdOrder = () => open<CreatedOrder>({ reference: reference("Order") });

const orderlineInput = () =>
  strict<OrderlineInput>({
    productReference: reference("Product"),
    imageReference: z.optional(reference("Image")),
    quantity: count(1),
    annotations: z.optional(
      z
        .array(strict<Annotation>({ key: z.string(), value: z.string() }))
        .check(z.maxLength(10, { error: "at most 10 annotations per orderline" })),
    ),
  });

const orderlines = <Line>(line: z.ZodMiniType<Line>) =>
  z.array(line).check(z.minLength(1, { error: "expected at least one orderline" }));

/** Adds the rules for shipping kind, address and shipping level. They are reported together with the faults of single fields. */
function byShippingKind(fields: z.core.$ZodLooseShape, address: z.core.$ZodType): z.ZodMiniType {
  const has = (value: object, field: string) => Reflect.get(value, field) !== undefined;
  const rule = (kind: OrderInput["shippingKind"], holds: (value: object) => boolean, path: string, error: string) =>
    z.refine((value) => Reflect.get(Object(value), "shippingKind") !== kind || holds(Object(value)), {
      path: [path],
      error,
      when: ({ value }) => typeof value === "object" && value !== null,
    });
  return z
    .strictObject({
      ...fields,
      shippingKind: z.enum(["dropship", "combined"]),
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

export const orderInput = () =>
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

export const quoteInput = () =>
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
export const shippingOption = () => open<ShippingOption>({ level: shippingLevel(), price: z.int() });
