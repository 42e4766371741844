import type {
  ClaimReference,
  EvidenceReference,
  ImageReference,
  OrderReference,
  ProductReference,
  ShipmentReference,
} from "../../references/references.ts";
import type { SeedOrder } from "./seed.schema.ts";
import type { SeedProduct } from "./seed-product.ts";

/** The records to add. */
export interface SeedRecords {
  /** Products to add to the catalog. Orderlines of the same seed can name them. */
  readonly products?: readonly SeedProduct[] | undefined;
  /** A number of different dropship orders, or the orders themselves. */
  readonly orders?: number | readonly SeedOrder[] | undefined;
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
  readonly images: readonly ImageReference[];
  readonly evidence: readonly EvidenceReference[];
}
