import * as z from "zod/mini";
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
import {
  type Annotation,
  type OrderInput,
  type ShippingLevel,
  shippingLevels,
} from "../../resources/orders/orders.endpoints.ts";
import type { Address } from "../../schemas/address.ts";
import { count, filledText, reference, type Schema } from "../../schemas/shape.ts";
import { addressTexts, dueTime, filledList, list, nullable, record, time } from "./record.schema.ts";

/** A step of an order. `part` is the number of its shipment, from 1 on. */
export type OrderTask =
  | { readonly kind: "startProduction"; readonly order: OrderReference }
  | { readonly kind: "ship"; readonly order: OrderReference; readonly part: number };

/** The steps of an order. */
export const orderTasks = () =>
  [
    z.strictObject({ kind: z.literal("startProduction"), order: reference("Order") }),
    z.strictObject({ kind: z.literal("ship"), order: reference("Order"), part: count(1) }),
  ] as const;

/** Work of the emulated service that is due at a later time. */
export type Task =
  | OrderTask
  | { readonly kind: "reviewClaim"; readonly claim: ClaimReference }
  | { readonly kind: "finishRender"; readonly render: RenderReference }
  | { readonly kind: "callback"; readonly id: number };

/** The records of the emulator, each with its form in a saved world. Points in time are milliseconds since 1970. */

export interface StoredAddress {
  readonly reference: AddressReference;
  readonly address: Address;
  /** The number of orders and shipments that use it. An unused address is deleted. */
  uses: number;
}

const address = () =>
  record<StoredAddress>({
    reference: reference("Address"),
    address: record<StoredAddress["address"]>({ ...addressTexts(), countryCode: z.string() }),
    uses: count(0),
  });

/** An uploaded image of a world. */
export interface StoredImage {
  readonly reference: ImageReference;
}

const image = () => record<StoredImage>({ reference: reference("Image") });

/** An uploaded photo of a world. */
export interface StoredEvidence {
  readonly reference: EvidenceReference;
  /** The picture, in base64. */
  readonly content: string;
  readonly created: number;
  /** The claim that uses it. Unused evidence is deleted after a day. */
  claim?: ClaimReference;
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const evidence = () =>
  record<StoredEvidence>({
    reference: reference("Evidence"),
    content: z.string().check(z.regex(base64, "expected base64")),
    created: time(),
    claim: z.optional(reference("Claim")) as z.core.$ZodType<Reference<"Claim">>,
  });

/** A render of a world. */
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

const render = () =>
  record<StoredRender>({
    reference: reference("Render"),
    compositionReference: reference("Composition"),
    imageReference: reference("Image"),
    created: time(),
    completed: dueTime(),
    failed: z.boolean(),
  });

/** A line of an order of a world. */
export interface StoredLine {
  readonly index: number;
  readonly productReference: ProductReference;
  readonly imageReference: ImageReference | null;
  readonly quantity: number;
  readonly annotations: readonly Annotation[];
  canceledQuantity: number;
  shippedQuantity: number;
}

const line = () =>
  record<StoredLine>({
    index: count(1),
    productReference: reference("Product"),
    imageReference: nullable(reference("Image")),
    quantity: count(1),
    annotations: list(record<StoredLine["annotations"][number]>({ key: z.string(), value: z.string() })),
    canceledQuantity: count(0),
    shippedQuantity: count(0),
  });

/** An order of a world. */
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

const order = () =>
  record<StoredOrder>({
    reference: reference("Order"),
    created: time(),
    storeReference: reference("Store"),
    legacyOrderCode: filledText(),
    customIdentifier: z.optional(z.string()),
    shippingKind: z.enum(["dropship", "combined"]),
    minimalLevel: z.enum(shippingLevels),
    lines: filledList(line()),
    settles: z.optional(reference("Claim")),
    viaStoreCode: z.optional(z.string()) as z.core.$ZodType<string>,
    dropshipAddressReference: nullable(reference("Address")),
    onHold: nullable(record<NonNullable<StoredOrder["onHold"]>>({ reason: z.string() })),
    inProduction: z.boolean(),
    postponed: nullable(z.discriminatedUnion("kind", orderTasks())),
  });

/** The lines of one order in a shipment. */
export interface Parcel {
  readonly orderReference: OrderReference;
  readonly lines: readonly { readonly index: number; readonly quantity: number }[];
}

const parcel = () =>
  record<Parcel>({
    orderReference: reference("Order"),
    lines: filledList(record<Parcel["lines"][number]>({ index: count(1), quantity: count(1) })),
  });

/** A shipment of a world. */
export interface StoredShipment {
  readonly reference: ShipmentReference;
  readonly parcels: readonly Parcel[];
  readonly level: ShippingLevel;
  /** The destination. It is null for a combined shipment, which goes to the store's combined address. */
  readonly addressReference: AddressReference | null;
  readonly shipped: number;
}

const shipment = () =>
  record<StoredShipment>({
    reference: reference("Shipment"),
    parcels: filledList(parcel()),
    level: z.enum(shippingLevels),
    addressReference: nullable(reference("Address")),
    shipped: time(),
  });

export const awards = ["replacement", "refund", "rejection"] as const;

/** What the items of a claim are awarded. */
export type Award = (typeof awards)[number];

/** The decision about a line of a claim: quantities that add up to that of the line. */
export interface StoredLineDecision extends Readonly<Record<Award, number>> {
  readonly comment: string;
}

/** The decision about a claim of a world. */
export interface StoredDecision {
  /** What all items were awarded; `mixed` when they differ. */
  readonly award: Award | "mixed";
  readonly decided: number;
  readonly refundShippingCosts: boolean;
  readonly comment: string;
  /** In the order of the claim's lines. */
  readonly lines: readonly StoredLineDecision[];
}

const decision = () =>
  record<StoredDecision>({
    award: z.enum([...awards, "mixed"]),
    decided: time(),
    refundShippingCosts: z.boolean(),
    comment: z.string(),
    lines: list(
      record<StoredLineDecision>({
        replacement: count(0),
        refund: count(0),
        rejection: count(0),
        comment: z.string(),
      }),
    ),
  });

/** A line of a claim of a world. */
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

const claimline = () =>
  record<StoredClaimline>({
    orderReference: reference("Order"),
    orderlineIndex: count(1),
    productReference: reference("Product"),
    imageReference: nullable(reference("Image")),
    quantity: count(1),
    categoryReference: reference("Claimcategory"),
    evidence: list(reference("Evidence")),
  });

/** A claim of a world. */
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

const claim = () =>
  record<StoredClaim>({
    reference: reference("Claim"),
    orderReference: reference("Order"),
    shipmentReference: reference("Shipment"),
    comment: z.string(),
    created: time(),
    createdBy: reference("Key"),
    lines: filledList(claimline()),
    evidence: list(reference("Evidence")),
    decision: nullable(decision()),
    retracted: nullable(time()),
    replacement: nullable(reference("Order")),
  });

/** The records that the world of an organization has a list of. */
export interface StoredRecords {
  readonly addresses: StoredAddress;
  readonly images: StoredImage;
  readonly evidence: StoredEvidence;
  readonly renders: StoredRender;
  readonly orders: StoredOrder;
  readonly shipments: StoredShipment;
  readonly claims: StoredClaim;
}

/** The form of each list in a saved world. A world that was saved before the list existed needs a default: `z._default(list(…), [])`. */
export const recordLists: { readonly [List in keyof StoredRecords]: Schema<readonly StoredRecords[List][]> } = {
  addresses: () => list(address()),
  images: () => list(image()),
  evidence: () => list(evidence()),
  renders: () => list(render()),
  orders: () => list(order()),
  shipments: () => list(shipment()),
  claims: () => list(claim()),
};

export const listNames = Object.keys(recordLists) as readonly (keyof StoredRecords)[];
