import * as z from "zod/mini";
import type { ImageReference, OrderReference, ProductReference, StoreReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { type AddressInput, addressInput, type QuoteAddressInput, quoteAddressInput } from "../../schemas/address.ts";
import { count, filledText, open, strict } from "../../schemas/shape.ts";
import type { Annotation } from "./orders.schema.ts";

/** The shipping levels, the lowest first (specification 4.7). */
export const shippingLevels = ["basic", "tracked", "express"] as const;

/** `basic` has no tracking, `tracked` has, `express` is faster and has (specification 1). A strict enum (specification 9.6). */
export type ShippingLevel = (typeof shippingLevels)[number];
const shippingLevel = () => z.enum(shippingLevels);

/** A line to order (specification 2.5). */
export interface OrderlineInput {
  readonly productReference: ProductReference;
  /** Required for a printed product; must be left out for one that is not printed. */
  readonly imageReference?: ImageReference | undefined;
  /** Units: a whole number from 1. */
  readonly quantity: number;
  /** At most 10; returned unchanged. */
  readonly annotations?: readonly Annotation[] | undefined;
}

interface OrderInputBase {
  /** A store whose `integration` is `api`. */
  readonly storeReference: StoreReference;
  /** Your own, unique identifier of the order: what protects it from being made twice. Default: a new ULID. */
  readonly customIdentifier?: string | undefined;
  /** At least one. */
  readonly orderlines: readonly OrderlineInput[];
}

/** An order to one customer: one shipment of its own (specification 2.4). */
export interface DropshipOrderInput extends OrderInputBase {
  /** To a customer. */
  readonly shippingKind: "dropship";
  /** The customer's address: with `email`, and with `state` in the United States and Italy (specification 2.3). */
  readonly dropshipAddress: AddressInput;
  /** The lowest level to ship with; the service raises or lowers it as the parcel requires. Default `basic`. */
  readonly dropshipMinimalShippingLevel?: ShippingLevel | undefined;
}

/** An order that travels with others to the store's own address: it has no address and no shipping level. */
export interface CombinedOrderInput extends OrderInputBase {
  /** To the store's combined address. */
  readonly shippingKind: "combined";
  readonly dropshipAddress?: undefined;
  readonly dropshipMinimalShippingLevel?: undefined;
}

/** What an order is made of. The fields for a brand and a packaging are not shown: give them with the option `body`. */
export type OrderInput = DropshipOrderInput | CombinedOrderInput;

/** What the creation of an order gives. */
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
        .check(z.maxLength(10, { error: "at most 10 annotations an orderline" })),
    ),
  });

const orderlines = <Line>(line: z.ZodMiniType<Line>) =>
  z.array(line).check(z.minLength(1, { error: "an order has at least one orderline" }));

/** Rules between the shipping kind and the destination: told beside the faults of single fields. */
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
        "a dropship order needs a destination (missing_address)",
      ),
      rule(
        "combined",
        (order) => !has(order, "dropshipAddress"),
        "dropshipAddress",
        "a combined order has no address: it goes to the store's combined address",
      ),
      rule(
        "combined",
        (order) => !has(order, "dropshipMinimalShippingLevel"),
        "dropshipMinimalShippingLevel",
        "a combined order has no shipping level",
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

/** A line to quote: what does not determine shipping is left out (specification 4.7). */
export interface QuoteLineInput {
  readonly productReference: ProductReference;
  /** Units: a whole number from 1. */
  readonly quantity: number;
}

interface QuoteInputBase {
  /** A store whose `integration` is `api`. */
  readonly storeReference: StoreReference;
  /** At least one. */
  readonly orderlines: readonly QuoteLineInput[];
}

/** What a quote for an order to one customer is asked for (specification 4.7). */
export interface DropshipQuoteInput extends QuoteInputBase {
  /** To a customer. */
  readonly shippingKind: "dropship";
  /** Where to. Only `countryCode` is asked for; more of it may decide, too: a parcel locker allows only `tracked`. */
  readonly dropshipAddress: QuoteAddressInput;
  /** The lowest level to quote; the service raises or lowers it as the parcel requires. Default `basic`. */
  readonly dropshipMinimalShippingLevel?: ShippingLevel | undefined;
}

/** A combined order has no shipping options: its quote is an empty list (specification 4.7). */
export interface CombinedQuoteInput extends QuoteInputBase {
  /** To the store's combined address. */
  readonly shippingKind: "combined";
  readonly dropshipAddress?: undefined;
  readonly dropshipMinimalShippingLevel?: undefined;
}

/** What a quote is asked for (specification 4.7). Nothing is stored. */
export type QuoteInput = DropshipQuoteInput | CombinedQuoteInput;

export const quoteInput = () =>
  byShippingKind(
    {
      storeReference: reference("Store"),
      orderlines: orderlines(strict<QuoteLineInput>({ productReference: reference("Product"), quantity: count(1) })),
    },
    quoteAddressInput(),
  );

/** A way to ship, and its price (specification 4.7). */
export interface ShippingOption {
  /** With or without tracking, and how fast. */
  readonly level: ShippingLevel;
  /** In EUR cents. */
  readonly price: number;
}
export const shippingOption = () => open<ShippingOption>({ level: shippingLevel(), price: z.int() });
