import * as z from "zod/mini";
import type {
  ClaimcategoryReference,
  ClaimReference,
  ImageReference,
  OrderReference,
  ProductReference,
  ShipmentReference,
} from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { count, type OpenEnum, open, openEnum, timestamp } from "../../schemas/shape.ts";

/** Why something is claimed (specification 2.8). The list may change: always fetch it. */
export interface ClaimcategorySummary {
  /** What a claimline takes. */
  readonly reference: ClaimcategoryReference;
  /** For people to read. */
  readonly name: string;
}

/** A claim category in full (specification 2.8). */
export interface Claimcategory extends ClaimcategorySummary {
  /** Whether a claimline of this category needs at least one photo. */
  readonly evidenceRequired: boolean;
}

type KnownClaimStatus = "pending" | "resolved" | "rejected" | "retracted";

/** `pending` until reviewed or retracted; the others are final (specification 3.1). */
export type ClaimStatus = OpenEnum<KnownClaimStatus>;

/** A claim as a list gives it (specification 2.8). */
export interface ClaimSummary {
  readonly reference: ClaimReference;
  readonly orderReference: OrderReference;
  readonly status: ClaimStatus;
  /** The categories of its lines. */
  readonly claimcategories: readonly ClaimcategorySummary[];
  /** When it was filed: an ISO 8601 timestamp. */
  readonly created: string;
  /** When it was retracted; null unless it was. */
  readonly retracted: string | null;
  /** When it was decided; null while pending. */
  readonly decided: string | null;
}

/** What the operator decided about a claim (specification 2.8). */
export interface ClaimDecision {
  /** When: an ISO 8601 timestamp. */
  readonly decided: string;
  /** Whether the costs of shipping are refunded. */
  readonly refundShippingCosts: boolean;
  readonly comment?: string | null;
}

/** What the operator decided about one line (specification 2.8). */
export interface ClaimlineDecision {
  /** Units that are sent again. */
  readonly replacementQuantity: number;
  /** Units that are refunded. */
  readonly refundQuantity: number;
  /** Units that are rejected. */
  readonly rejectionQuantity: number;
  readonly comment?: string | null;
}

/** What is claimed about one orderline (specification 2.8). */
export interface Claimline {
  readonly productReference: ProductReference;
  /** The `index` of the orderline; the first is 1. */
  readonly orderlineIndex: number;
  /** Units claimed. */
  readonly quantity: number;
  /** Missing or null for a product that is not printed. */
  readonly imageReference?: ImageReference | null;
  readonly claimcategory: ClaimcategorySummary;
  /** Null while pending. */
  readonly decision: ClaimlineDecision | null;
  /** Empty about four months after the claim is closed. */
  readonly evidenceUrls: readonly string[];
}

/** A claim in full (specification 2.8). */
export interface Claim {
  readonly reference: ClaimReference;
  readonly orderReference: OrderReference;
  readonly shipmentReference: ShipmentReference;
  readonly status: ClaimStatus;
  readonly comment?: string | null;
  /** Identifies the user who filed it. */
  readonly createdBy?: string | null;
  /** When it was filed: an ISO 8601 timestamp. */
  readonly created: string;
  /** When it was retracted; null unless it was. */
  readonly retracted: string | null;
  /** Null while pending. */
  readonly decision: ClaimDecision | null;
  /** Filled for package-missing claims only. */
  readonly evidenceUrls: readonly string[];
  /** What is claimed, line by line. */
  readonly claimlines: readonly Claimline[];
}

const categoryFields = () => ({ reference: reference("Claimcategory"), name: z.string() });
const categorySummary = () => open<ClaimcategorySummary>(categoryFields());

export const claimcategory = () => open<Claimcategory>({ ...categoryFields(), evidenceRequired: z.boolean() });

const status = openEnum<KnownClaimStatus>;

export const claimSummary = () =>
  open<ClaimSummary>({
    reference: reference("Claim"),
    orderReference: reference("Order"),
    status: status(),
    claimcategories: z.array(categorySummary()),
    created: timestamp(),
    retracted: z.nullable(timestamp()),
    decided: z.nullable(timestamp()),
  });

const claimline = () =>
  open<Claimline>({
    productReference: reference("Product"),
    orderlineIndex: count(1),
    quantity: count(0),
    imageReference: z.nullish(reference("Image")),
    claimcategory: categorySummary(),
    decision: z.nullable(
      open<ClaimlineDecision>({
        replacementQuantity: count(0),
        refundQuantity: count(0),
        rejectionQuantity: count(0),
        comment: z.nullish(z.string()),
      }),
    ),
    evidenceUrls: z.array(z.string()),
  });

export const claim = () =>
  open<Claim>({
    reference: reference("Claim"),
    orderReference: reference("Order"),
    shipmentReference: reference("Shipment"),
    status: status(),
    comment: z.nullish(z.string()),
    createdBy: z.nullish(z.string()),
    created: timestamp(),
    retracted: z.nullable(timestamp()),
    decision: z.nullable(
      open<ClaimDecision>({
        decided: timestamp(),
        refundShippingCosts: z.boolean(),
        comment: z.nullish(z.string()),
      }),
    ),
    evidenceUrls: z.array(z.string()),
    claimlines: z.array(claimline()),
  });
