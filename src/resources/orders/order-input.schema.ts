import * as z from "zod";
import type { ImageReference, OrderReference, ProductReference, StoreReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { type AddressInput, addressInput, type QuoteAddressInput, quoteAddressInput } from "../../schemas/address.ts";
import { count, open, strict } from "../../schemas/shape.ts";
import type { Annotation } from "./orders.schema.ts";

/** `basic` has no tracking, `tracked` has, `express` is faster and has. A strict enum (specification 9.6). */
export type ShippingLevel = "basic" | "tracked" | "express";
const shippingLevel = z.enum(["basic", "tracked", "express"]);

/** A line to order (specification 2.5). */
export interface OrderlineInput {
  readonly productReference: ProductReference;
  /** Required for a printed product; must be left out for one that is not printed. */
  readonly imageReference?: ImageReference;
  readonly quantity: number;
  /** At most 10; returned unchanged. */
  readonly annotations?: readonly Annotation[];
}

interface OrderInputBase {
  /** A store whose `integration` is `api`. */
  readonly storeReference: StoreReference;
  /** Your own, unique identifier of the order: what protects it from being made twice. Default: a new ULID. */
  readonly customIdentifier?: string;
  readonly orderlines: readonly OrderlineInput[];
}

/** An order to one customer: one shipment of its own (specification 2.4). */
export interface DropshipOrderInput extends OrderInputBase {
  readonly shippingKind: "dropship";
  readonly dropshipAddress: AddressInput;
  /** Default `basic`. */
  readonly dropshipMinimalShippingLevel?: ShippingLevel;
}

/** An order that travels with others to the store's own address: it has no address and no shipping level. */
export interface CombinedOrderInput extends OrderInputBase {
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
export const createdOrder = open<CreatedOrder>({ reference: reference("Order") });

const orderlineInput = strict<OrderlineInput>({
  productReference: reference("Product"),
  imageReference: reference("Image").optional(),
  quantity: count(1),
  annotations: z
    .array(strict<Annotation>({ key: z.string(), value: z.string() }))
    .max(10, { error: "at most 10 annotations an orderline" })
    .optional(),
});

const orderlines = <Line>(line: z.ZodType<Line>) =>
  z.array(line).min(1, { error: "an order has at least one orderline" });

/** Rules between the shipping kind and the destination: told beside the faults of single fields. */
function byShippingKind<Shape extends z.core.$ZodLooseShape>(shape: Shape, address: z.ZodType): z.ZodType {
  const has = (value: object, field: string) => Reflect.get(value, field) !== undefined;
  const rule = (holds: (value: object, kind: unknown) => boolean, path: string, error: string) => ({
    test: (value: object) => holds(value, Reflect.get(value, "shippingKind")),
    how: { path: [path], error, when: ({ value }: { value: unknown }) => typeof value === "object" && value !== null },
  });
  return [
    rule(
      (value, kind) => kind !== "dropship" || has(value, "dropshipAddress"),
      "dropshipAddress",
      "a dropship order needs a destination (missing_address)",
    ),
    rule(
      (value, kind) => kind !== "combined" || !has(value, "dropshipAddress"),
      "dropshipAddress",
      "a combined order has no address: it goes to the store's combined address",
    ),
    rule(
      (value, kind) => kind !== "combined" || !has(value, "dropshipMinimalShippingLevel"),
      "dropshipMinimalShippingLevel",
      "a combined order has no shipping level",
    ),
  ].reduce<z.ZodType>(
    (schema, { test, how }) => schema.refine((value) => test(Object(value)), how),
    z.strictObject({
      ...shape,
      shippingKind: z.enum(["dropship", "combined"]),
      dropshipAddress: address.optional(),
      dropshipMinimalShippingLevel: shippingLevel.optional(),
    }),
  );
}

const orderFields = {
  storeReference: reference("Store"),
  customIdentifier: z.string().min(1).optional(),
  orderlines: orderlines(orderlineInput),
};
export const orderInput = byShippingKind(orderFields, addressInput);

/** A line to quote: what does not determine shipping is left out (specification 4.7). */
export interface QuoteLineInput {
  readonly productReference: ProductReference;
  readonly quantity: number;
}

interface QuoteInputBase {
  readonly storeReference: StoreReference;
  readonly orderlines: readonly QuoteLineInput[];
}

export interface DropshipQuoteInput extends QuoteInputBase {
  readonly shippingKind: "dropship";
  readonly dropshipAddress: QuoteAddressInput;
  /** Default `basic`. */
  readonly dropshipMinimalShippingLevel?: ShippingLevel;
}

/** A combined order has no shipping options: its quote is an empty list. */
export interface CombinedQuoteInput extends QuoteInputBase {
  readonly shippingKind: "combined";
  readonly dropshipAddress?: undefined;
  readonly dropshipMinimalShippingLevel?: undefined;
}

/** What a quote is asked for (specification 4.7). Nothing is stored. */
export type QuoteInput = DropshipQuoteInput | CombinedQuoteInput;

const quoteFields = {
  storeReference: reference("Store"),
  orderlines: orderlines(strict<QuoteLineInput>({ productReference: reference("Product"), quantity: count(1) })),
};
export const quoteInput = byShippingKind(quoteFields, quoteAddressInput);

/** A way to ship, and its price (specification 4.7). */
export interface ShippingOption {
  readonly level: ShippingLevel;
  /** In EUR cents. */
  readonly price: number;
}
export const shippingOption = open<ShippingOption>({ level: shippingLevel, price: z.int() });
