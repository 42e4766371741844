import * as z from "zod/mini";
import type { ImageReference, OrderReference, ProductReference, StoreReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { type AddressInput, addressInput } from "../../schemas/address.ts";
import { array, count, filledText, open, strict } from "../../schemas/shape.ts";
import type { Annotation } from "./orders.schema.ts";
import { byShippingKind, orderlines, type ShippingLevel } from "./shipping.schema.ts";

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
export const createdOrder = () => open<CreatedOrder>({ reference: reference("Order") });

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

export const orderInput = () =>
  byShippingKind(
    {
      storeReference: reference("Store"),
      customIdentifier: z.optional(filledText()),
      orderlines: orderlines(orderlineInput()),
    },
    addressInput(),
  );
