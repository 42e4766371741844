import * as z from "zod/mini";
import type {
  ClaimReference,
  EvidenceReference,
  ImageReference,
  OrderReference,
  ProductReference,
  ShipmentReference,
} from "../../references/references.ts";
import { type Annotation, type ShippingLevel, shippingLevels } from "../../resources/orders/orders.endpoints.ts";
import type { AddressInput } from "../../schemas/address.ts";
import { count, filledText, reference, strict } from "../../schemas/shape.ts";
import { type Stage, stages } from "../catalog/products.ts";
import { addressTexts } from "../work/record.schema.ts";
import type { Award } from "../work/records.ts";

/** A hundred years: earlier times help no test, and some have no date in the form of the service. */
const most = 36_525;

/** The days since something happened. */
const daysAgo = () => z.optional(z.number().check(z.gte(0), z.lte(most)));

/** A product of a seed, beside those of the demo catalog. */
export interface SeedProduct {
  /** Orderlines of the seed name the product by it. */
  readonly name: string;
  /** Default: it derives from the name. */
  readonly reference?: ProductReference | undefined;
  /** A name in `demo.productgroups`, or a reference. Default `slimCases`. */
  readonly productgroup?: string | undefined;
  /** Default `launched`. */
  readonly status?: Stage | undefined;
  /** Whether it is printed, so that its orderlines need an image. Default true. */
  readonly printed?: boolean | undefined;
  /** Null: not known, for an announced product. Default 100. */
  readonly availableQuantity?: number | null | undefined;
  /** The weight of one unit; null when it has not been measured. Default 30. */
  readonly weightGrams?: number | null | undefined;
  /** The SKU of its warehouse item. Products with one SKU share an item. Default: the name in capital letters, with `-`. */
  readonly sku?: string | undefined;
  /** Days since the product was created. Default 0: it was created now. */
  readonly daysAgo?: number | undefined;
}

const seedProduct = () =>
  strict<SeedProduct>({
    name: filledText(),
    reference: z.optional(reference("Product")),
    productgroup: z.optional(filledText()),
    status: z.optional(z.enum(stages)),
    printed: z.optional(z.boolean()),
    availableQuantity: z.optional(z.nullable(count(0))),
    weightGrams: z.optional(z.nullable(z.number().check(z.gte(0)))),
    sku: z.optional(filledText()),
    daysAgo: daysAgo(),
  });

/** A line of an order of a seed. */
export interface SeedLine {
  /** A name in `demo.products` or in `seed.products`, or a reference. Default `slimCase`. */
  readonly product?: string | undefined;
  /** Default 1. */
  readonly quantity?: number | undefined;
  /** The name of the picture on a printed product: one name is one image. Default `seed`. */
  readonly image?: string | undefined;
  /** Default: none. */
  readonly annotations?: readonly Annotation[] | undefined;
  /** Default 0. */
  readonly canceledQuantity?: number | undefined;
}

/** A claim about a shipment of a seed. */
export interface SeedClaim {
  /** A name in `demo.claimcategories`. `packageMissing` claims the whole package. Default `damaged`. */
  readonly category?: string | undefined;
  /** The claimed items. Default: one unit of the first line of the shipment. Not for `packageMissing`. */
  readonly lines?: readonly { readonly index: number; readonly quantity: number }[] | undefined;
  /** Default empty. */
  readonly comment?: string | undefined;
  /** Days since the claim was filed. Default 0: it was filed now. */
  readonly daysAgo?: number | undefined;
  /** Default: the claim is pending. A decision is made now. */
  readonly decision?: Award | "retracted" | undefined;
}

/** A claim about a shipment that exists. */
export interface SeedClaimOf extends SeedClaim {
  readonly shipment: ShipmentReference;
}

/** A shipment of an order of a seed. */
export interface SeedShipment {
  /** Days since the shipment. Default: those of the order. */
  readonly daysAgo?: number | undefined;
  /** The shipped items. Default: everything that is neither shipped nor canceled. */
  readonly lines?: readonly { readonly index: number; readonly quantity: number }[] | undefined;
  /** The claims about the shipment. */
  readonly claims?: readonly SeedClaim[] | undefined;
}

/** An order of a seed. An empty object is a dropship order of one slim case to Amsterdam. */
export interface SeedOrder {
  /** A name in `demo.stores`, a store's `legacyCode`, or a reference. Default `api`. */
  readonly store?: string | undefined;
  /** Default: none. */
  readonly customIdentifier?: string | undefined;
  /** Default `dropship`. */
  readonly shippingKind?: "dropship" | "combined" | undefined;
  /** Fields of the destination that differ from the default address. Not for a combined order. */
  readonly dropshipAddress?: Partial<AddressInput> | undefined;
  /** Default `basic`. */
  readonly dropshipMinimalShippingLevel?: ShippingLevel | undefined;
  /** Default: one line. */
  readonly orderlines?: readonly SeedLine[] | undefined;
  /** Days since the order was created. Default 0: it was created now. */
  readonly daysAgo?: number | undefined;
  /** Default false. */
  readonly inProduction?: boolean | undefined;
  /** The reason of a hold. Default: the order is not on hold. */
  readonly onHold?: string | undefined;
  /** Default: nothing is shipped. */
  readonly shipments?: readonly SeedShipment[] | undefined;
}

const named = () => z.optional(filledText());
const items = () => z.optional(z.array(z.strictObject({ index: count(1), quantity: count(1) })));

const seedLine = () =>
  strict<SeedLine>({
    product: named(),
    quantity: z.optional(count(1)),
    image: named(),
    annotations: z.optional(z.array(strict<Annotation>({ key: z.string(), value: z.string() })).check(z.maxLength(10))),
    canceledQuantity: z.optional(count(0)),
  });

const claimFields = () => ({
  category: named(),
  lines: items(),
  comment: z.optional(z.string().check(z.maxLength(1000))),
  daysAgo: daysAgo(),
  decision: z.optional(z.enum(["replacement", "refund", "rejection", "retracted"])),
});

const seedClaim = () => strict<SeedClaim>(claimFields());

const seedShipment = () =>
  strict<SeedShipment>({ daysAgo: daysAgo(), lines: items(), claims: z.optional(z.array(seedClaim())) });

const seedAddress = () =>
  strict<Partial<AddressInput>>({
    ...addressTexts(),
    countryCode: z.optional(z.string().check(z.regex(/^[A-Z]{2}$/))),
  });

const seedOrder = () =>
  strict<SeedOrder>({
    store: named(),
    customIdentifier: named(),
    shippingKind: z.optional(z.enum(["dropship", "combined"])),
    dropshipAddress: z.optional(seedAddress()),
    dropshipMinimalShippingLevel: z.optional(z.enum(shippingLevels)),
    orderlines: z.optional(z.array(seedLine()).check(z.minLength(1))),
    daysAgo: daysAgo(),
    inProduction: z.optional(z.boolean()),
    onHold: named(),
    shipments: z.optional(z.array(seedShipment())),
  });

/** Any number of entries. Zod's own type is a mutable array. */
const list = <Entry>(entry: z.ZodMiniType<Entry>) => z.array(entry) as z.ZodMiniType<readonly Entry[]>;

/** The most orders that a number of orders makes: more do not fit into the memory of a process. */
const maxOrders = 1_000_000;

/** The fields of the records of a seed. */
export const seedRecords = () => ({
  products: z.optional(list(seedProduct())),
  orders: z.optional(
    z.union([count(0).check(z.lte(maxOrders)), list(seedOrder())], "expected a number of orders, or a list of orders"),
  ),
  claims: z.optional(list(strict<SeedClaimOf>({ shipment: reference("Shipment"), ...claimFields() }))),
  images: z.optional(list(filledText())),
  evidence: z.optional(list(filledText())),
});

/** The records to add. */
export interface SeedRecords {
  /** Products to add to the catalog. Orderlines of the same seed can name them. */
  readonly products?: readonly SeedProduct[] | undefined;
  /** A number of different dropship orders, or the orders themselves. */
  readonly orders?: number | readonly SeedOrder[] | undefined;
  /** Claims about shipments that exist. */
  readonly claims?: readonly SeedClaimOf[] | undefined;
  /** Names of pictures to add to the images of the first organization. One name is one image. */
  readonly images?: readonly string[] | undefined;
  /** Names of pictures to add as unused evidence of the first organization. */
  readonly evidence?: readonly string[] | undefined;
}

/** A shipment that a seed added. */
export interface PlantedShipment {
  readonly reference: ShipmentReference;
  readonly claims: readonly ClaimReference[];
}

/** An order that a seed added. */
export interface PlantedOrder {
  readonly reference: OrderReference;
  readonly shipments: readonly PlantedShipment[];
}

/** What a seed added, in the order of the seed. */
export interface Planted {
  readonly products: readonly ProductReference[];
  readonly orders: readonly PlantedOrder[];
  /** The claims about shipments that existed. */
  readonly claims: readonly ClaimReference[];
  readonly images: readonly ImageReference[];
  readonly evidence: readonly EvidenceReference[];
}
