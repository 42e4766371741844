import type {
  EvidenceReference,
  ImageReference,
  OrderReference,
  ShipmentReference,
} from "../../references/references.ts";
import type { ItemIssuesInput, PackageMissingInput } from "../../resources/claims/claims.endpoints.ts";
import type {
  CombinedOrderInput,
  CombinedQuoteInput,
  DropshipOrderInput,
  DropshipQuoteInput,
  OrderInput,
  QuoteInput,
} from "../../resources/orders/orders.endpoints.ts";
import type { IdentifiedOrderInput } from "../../resources/orders/place.ts";
import type { RenderInput } from "../../resources/renders/renders.endpoints.ts";
import type { CompleteAddress } from "../../schemas/address.ts";
import { withOverrides } from "../../util/fields.ts";
import type { DemoCatalog } from "../catalog/catalog.ts";
import type { Planted, SeedRecords } from "./seed.ts";

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

/** Overrides with your own identifier, which `orders.ensure` needs. */
type Identified = Pick<IdentifiedOrderInput, "customIdentifier">;

/**
 * Makes a valid order: one printed slim case, as a dropship order to Amsterdam. The image exists in the emulator.
 *
 * @param overrides Fields that replace those of the valid order. With `shippingKind: "combined"` the order has no address.
 * @example
 * const { reference } = await partner.orders.create(validOrder(emulator, { customIdentifier: "shop-1" }));
 */
export function validOrder(
  emulator: BuilderEmulator,
  overrides: Partial<CombinedOrderInput> & Pick<CombinedOrderInput, "shippingKind"> & Identified,
): CombinedOrderInput & Identified;
export function validOrder(
  emulator: BuilderEmulator,
  overrides: Partial<DropshipOrderInput> & Identified,
): DropshipOrderInput & Identified;
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

/** Adds an unused photo to the emulator and returns its reference. */
export function validEvidence(emulator: BuilderEmulator, name = "valid"): EvidenceReference {
  const [evidence] = emulator.seed({ evidence: [name] }).evidence;
  if (evidence === undefined) throw new TypeError("The emulator added no evidence");
  return evidence;
}

interface ShippedOrder {
  readonly orderReference: OrderReference;
  readonly shipmentReference: ShipmentReference;
}

/** Adds an order of one slim case that was shipped some days ago. */
function shipped(emulator: BuilderEmulator, daysAgo: number): ShippedOrder {
  const [order] = emulator.seed({ orders: [{ daysAgo, shipments: [{}] }] }).orders;
  const [shipment] = order?.shipments ?? [];
  if (order === undefined || shipment === undefined) throw new TypeError("The emulator added no shipment");
  return { orderReference: order.reference, shipmentReference: shipment.reference };
}

/** The promised delivery window of a basic shipment in the Netherlands has passed, and the warranty has not (specification 4.9). */
const overdue = 14;

/**
 * Makes a valid claim of a missing package. Adds an order to the emulator that was shipped 14 days ago.
 *
 * @param overrides Fields that replace those of the valid claim. With `shipmentReference` no order is added.
 * @example
 * const { reference } = await partner.claims.createPackageMissing(validPackageMissing(emulator));
 */
export const validPackageMissing = (
  emulator: BuilderEmulator,
  { shipmentReference, ...overrides }: Partial<PackageMissingInput> = {},
): PackageMissingInput =>
  withOverrides<PackageMissingInput>(
    { shipmentReference: shipmentReference ?? shipped(emulator, overdue).shipmentReference, evidenceReferences: [] },
    overrides,
  );

/**
 * Makes a valid claim about a damaged item, with a photo. Adds an order to the emulator that was shipped a day ago.
 *
 * @param overrides Fields that replace those of the valid claim. With `shipmentReference` and `orderReference` no order is added.
 * @example
 * const { reference } = await partner.claims.createItemIssues(validItemIssues(emulator, { comment: "A scratch" }));
 */
export function validItemIssues(
  emulator: BuilderEmulator,
  { shipmentReference, orderReference, ...overrides }: Partial<ItemIssuesInput> = {},
): ItemIssuesInput {
  if ((shipmentReference === undefined) !== (orderReference === undefined)) {
    throw new TypeError("Give both `shipmentReference` and `orderReference`, or none of them");
  }
  const known = shipmentReference !== undefined && orderReference !== undefined;
  return {
    ...(known ? { shipmentReference, orderReference } : shipped(emulator, 1)),
    claimlines: overrides.claimlines ?? [
      {
        orderlineIndex: 1,
        quantity: 1,
        claimcategoryReference: emulator.demo.claimcategories.damaged,
        evidenceReferences: [validEvidence(emulator)],
      },
    ],
    ...(overrides.comment === undefined ? {} : { comment: overrides.comment }),
  };
}

/**
 * Makes a valid render request: a slim case in the studio, for one rendertoken. The image exists in the emulator.
 *
 * @param overrides Fields that replace those of the valid request.
 * @example
 * const { reference } = await partner.renders.create(validRender(emulator));
 */
export const validRender = (emulator: BuilderEmulator, overrides: Partial<RenderInput> = {}): RenderInput =>
  withOverrides(
    {
      compositionReference: emulator.demo.compositions.studio,
      imageReference: overrides.imageReference ?? validImage(emulator),
    },
    overrides,
  );
