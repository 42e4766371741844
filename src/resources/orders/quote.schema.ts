import * as z from "zod/mini";
import type { ProductReference, StoreReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { type QuoteAddressInput, quoteAddressInput } from "../../schemas/address.ts";
import { count, open, strict } from "../../schemas/shape.ts";
import { byShippingKind, orderlines, type ShippingLevel, shippingLevel } from "./shipping.schema.ts";

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
