import type {
  ClaimReference,
  EvidenceReference,
  ImageReference,
  OrderReference,
  ShipmentReference,
} from "../../references/references.ts";
import type { SeedOrder } from "./seed.schema.ts";

/** The records to add. */
export interface SeedRecords {
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
  readonly orders: readonly PlantedOrder[];
  readonly images: readonly ImageReference[];
  readonly evidence: readonly EvidenceReference[];
}
