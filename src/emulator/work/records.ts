import type {
  AddressReference,
  ClaimcategoryReference,
  ClaimReference,
  CompositionReference,
  EvidenceReference,
  ImageReference,
  OrderReference,
  ProductReference,
  Reference,
  RenderReference,
  ShipmentReference,
  StoreReference,
} from "../../references/references.ts";
import type { Annotation, OrderInput, ShippingLevel } from "../../resources/orders/orders.endpoints.ts";
import type { Address } from "../../schemas/address.ts";

/** A step of an order. `part` is the number of its shipment, from 1 on. */
export type OrderTask =
  | { readonly kind: "startProduction"; readonly order: OrderReference }
  | { readonly kind: "ship"; readonly order: OrderReference; readonly part: number };

/** Work of the emulated service that is due at a later time. */
export type Task =
  | OrderTask
  | { readonly kind: "reviewClaim"; readonly claim: ClaimReference }
  | { readonly kind: "finishRender"; readonly render: RenderReference }
  | { readonly kind: "callback"; readonly id: number };

/** The records of the emulator. Points in time are milliseconds since 1970. */

export interface StoredAddress {
  readonly reference: AddressReference;
  readonly address: Address;
  /** The number of orders and shipments that use it. An unused address is deleted. */
  uses: number;
}

export interface StoredImage {
  readonly reference: ImageReference;
}

export interface StoredEvidence {
  readonly reference: EvidenceReference;
  /** The picture, in base64. */
  readonly content: string;
  readonly created: number;
  /** The claim that uses it. Unused evidence is deleted after a day. */
  claim?: ClaimReference;
}

export interface StoredRender {
  readonly reference: RenderReference;
  readonly compositionReference: CompositionReference;
  readonly imageReference: ImageReference;
  readonly created: number;
  /** The time at which the render is finished. A control can change it. */
  completed: number;
  /** Whether the render fails when it is finished. */
  failed: boolean;
}

export interface StoredLine {
  readonly index: number;
  readonly productReference: ProductReference;
  readonly imageReference: ImageReference | null;
  readonly quantity: number;
  readonly annotations: readonly Annotation[];
  canceledQuantity: number;
  shippedQuantity: number;
}

export interface StoredOrder {
  readonly reference: OrderReference;
  readonly created: number;
  readonly storeReference: StoreReference;
  readonly legacyOrderCode: string;
  readonly customIdentifier: string | undefined;
  readonly shippingKind: OrderInput["shippingKind"];
  readonly minimalLevel: ShippingLevel;
  readonly lines: readonly StoredLine[];
  /** The claim that this order is the replacement of. */
  readonly settles: ClaimReference | undefined;
  /** The code of the integrator that created the order. */
  readonly viaStoreCode?: string;
  dropshipAddressReference: AddressReference | null;
  onHold: { readonly reason: string } | null;
  inProduction: boolean;
  /** The step that became due while the order was on hold, or waited for the launch of a product. */
  postponed: OrderTask | null;
}

/** The lines of one order in a shipment. */
export interface Parcel {
  readonly orderReference: OrderReference;
  readonly lines: readonly { readonly index: number; readonly quantity: number }[];
}

export interface StoredShipment {
  readonly reference: ShipmentReference;
  readonly parcels: readonly Parcel[];
  readonly level: ShippingLevel;
  /** The destination. It is null for a combined shipment, which goes to the store's combined address. */
  readonly addressReference: AddressReference | null;
  readonly shipped: number;
}

export const awards = ["replacement", "refund", "rejection"] as const;

/** What the items of a claim are awarded. */
export type Award = (typeof awards)[number];

/** The decision about a line of a claim: quantities that add up to that of the line. */
export interface StoredLineDecision extends Readonly<Record<Award, number>> {
  readonly comment: string;
}

export interface StoredDecision {
  /** What all items were awarded; `mixed` when they differ. */
  readonly award: Award | "mixed";
  readonly decided: number;
  readonly refundShippingCosts: boolean;
  readonly comment: string;
  /** In the order of the claim's lines. */
  readonly lines: readonly StoredLineDecision[];
}

export interface StoredClaimline {
  /** A package-missing claim can cover several combined orders. */
  readonly orderReference: OrderReference;
  readonly orderlineIndex: number;
  readonly productReference: ProductReference;
  readonly imageReference: ImageReference | null;
  readonly quantity: number;
  readonly categoryReference: ClaimcategoryReference;
  readonly evidence: readonly EvidenceReference[];
}

export interface StoredClaim {
  readonly reference: ClaimReference;
  readonly orderReference: OrderReference;
  readonly shipmentReference: ShipmentReference;
  readonly comment: string;
  readonly created: number;
  /** The key that the claim was filed with. */
  readonly createdBy: Reference<"Key">;
  readonly lines: readonly StoredClaimline[];
  /** The evidence of a package-missing claim. Other claims have evidence on their lines. */
  readonly evidence: readonly EvidenceReference[];
  decision: StoredDecision | null;
  retracted: number | null;
  /** The replacement order. */
  replacement: OrderReference | null;
}
