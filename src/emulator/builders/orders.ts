import type { ImageReference } from "../../references/references.ts";
import type { CombinedOrderInput, DropshipOrderInput, OrderInput } from "../../resources/orders/order-input.schema.ts";
import type { CombinedQuoteInput, DropshipQuoteInput, QuoteInput } from "../../resources/orders/quote.schema.ts";
import type { CompleteAddress } from "../../schemas/address.ts";
import { withOverrides } from "../../util/fields.ts";
import type { DemoCatalog } from "../catalog/demo.ts";
import type { Planted, SeedRecords } from "../settings/planted.ts";

/** The part of an emulator that the builders use. They send no request: no fault, no limit and no log entry is in their way. */
export interface BuilderEmulator {
  readonly demo: DemoCatalog;
  seed(records: SeedRecords): Planted;
}

const customer: CompleteAddress = {
  company: "",
  firstname: "Ada",
  lastname: "Lovelace",
  streetname: "Damrak",
  housenumber: "1",
  housenumberAddition: "",
  additionalInfo: "",
  state: "",
  zipcode: "1012LG",
  city: "Amsterdam",
  countryCode: "NL",
  phonenumber: "",
  email: "ada@shop.example",
};

/**
 * Makes a valid address in Amsterdam, with all 13 fields.
 *
 * @example
 * const address = validAddress({ countryCode: "DE" });
 */
export const validAddress = (overrides: Partial<CompleteAddress> = {}): CompleteAddress =>
  withOverrides(customer, overrides);

/** Adds an image to the emulator and returns its reference. */
export function validImage(emulator: BuilderEmulator, name = "valid"): ImageReference {
  const [image] = emulator.seed({ images: [name] }).images;
  if (image === undefined) throw new TypeError("The emulator added no image");
  return image;
}

/**
 * Makes a valid order: one printed slim case, as a dropship order to Amsterdam. The image exists in the emulator.
 *
 * @param overrides Fields that replace those of the valid order. With `shippingKind: "combined"` the order has no address.
 * @example
 * const { reference } = await partner.orders.create(validOrder(emulator, { customIdentifier: "shop-1" }));
 */
export function validOrder(
  emulator: BuilderEmulator,
  overrides: Partial<CombinedOrderInput> & Pick<CombinedOrderInput, "shippingKind">,
): CombinedOrderInput;
export function validOrder(emulator: BuilderEmulator, overrides?: Partial<DropshipOrderInput>): DropshipOrderInput;
export function validOrder(emulator: BuilderEmulator, overrides: Partial<OrderInput> = {}): OrderInput {
  const { api } = emulator.demo.stores;
  const orderlines = overrides.orderlines ?? [
    { productReference: emulator.demo.products.slimCase, imageReference: validImage(emulator), quantity: 1 },
  ];
  const order = { storeReference: api, ...destination(overrides.shippingKind), orderlines };
  return withOverrides<OrderInput>(order, overrides);
}

/** The shipping kind, with the address that a dropship order needs. */
const destination = (kind: OrderInput["shippingKind"] = "dropship") =>
  kind === "combined"
    ? ({ shippingKind: "combined" } as const)
    : ({ shippingKind: "dropship", dropshipAddress: validAddress() } as const);

/**
 * Makes a valid quote request: one slim case to Amsterdam.
 *
 * @param overrides Fields that replace those of the valid request. With `shippingKind: "combined"` the request has no address.
 * @example
 * const options = await partner.orders.quote(validQuote(emulator, { dropshipAddress: validAddress({ countryCode: "DE" }) }));
 */
export function validQuote(
  emulator: BuilderEmulator,
  overrides: Partial<CombinedQuoteInput> & Pick<CombinedQuoteInput, "shippingKind">,
): CombinedQuoteInput;
export function validQuote(emulator: BuilderEmulator, overrides?: Partial<DropshipQuoteInput>): DropshipQuoteInput;
export function validQuote({ demo }: BuilderEmulator, overrides: Partial<QuoteInput> = {}): QuoteInput {
  const quote = {
    storeReference: demo.stores.api,
    orderlines: [{ productReference: demo.products.slimCase, quantity: 1 }],
    ...destination(overrides.shippingKind),
  };
  return withOverrides<QuoteInput>(quote, overrides);
}
