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
import { array, count, type OpenEnum, open, openEnum, timestamp } from "../../schemas/shape.ts";

/** The reason of a claim: reference and name of its category (specification 2.8). The list of categories can change: always fetch it. */
export interface ClaimcategorySummary {
  /** The value for `claimcategoryReference` of a claimline. */
  readonly reference: ClaimcategoryReference;
  /** The name to show to a person. */
  readonly name: string;
}

/** A claim category with all fields (specification 2.8). */
export interface Claimcategory extends ClaimcategorySummary {
  /** Whether a claimline of this category requires at least one photo. */
  readonly evidenceRequired: boolean;
}

type KnownClaimStatus = "pending" | "resolved" | "rejected" | "retracted";

/** The status of a claim: `pending` until it is reviewed or retracted. The other values are final (specification 3.1). */
export type ClaimStatus = OpenEnum<KnownClaimStatus>;

/** A claim in a list (specification 2.8). */
export interface ClaimSummary {
  readonly reference: ClaimReference;
  readonly orderReference: OrderReference;
  readonly status: ClaimStatus;
  /** The categories of the claimlines. */
  readonly claimcategories: readonly ClaimcategorySummary[];
  /** When it was filed: an ISO 8601 timestamp. */
  readonly created: string;
  /** When it was retracted, an ISO 8601 timestamp; null if it was not retracted. */
  readonly retracted: string | null;
  /** When it was decided, an ISO 8601 timestamp; null while pending or retracted. */
  readonly decided: string | null;
}

/** The operator's decision about a claim (specification 2.8). */
export interface ClaimDecision {
  /** When it was decided: an ISO 8601 timestamp. */
  readonly decided: string;
  /** Whether the shipping costs are refunded. */
  readonly refundShippingCosts: boolean;
  readonly comment?: string | null;
}

/** The operator's decision about one claimline (specification 2.8). */
export interface ClaimlineDecision {
  /** Number of units that are replaced. */
  readonly replacementQuantity: number;
  /** Number of units that are refunded. */
  readonly refundQuantity: number;
  /** Number of units that are rejected. */
  readonly rejectionQuantity: number;
  readonly comment?: string | null;
}

/** One line of a claim (specification 2.8). */
export interface Claimline {
  readonly productReference: ProductReference;
  /** The `index` of the orderline. The first index is 1. */
  readonly orderlineIndex: number;
  /** Number of claimed units. */
  readonly quantity: number;
  /** Missing or null for a product that is not printed. */
  readonly imageReference?: ImageReference | null;
  readonly claimcategory: ClaimcategorySummary;
  /** The operator's decision; null while the claim is pending, and after a retraction. */
  readonly decision: ClaimlineDecision | null;
  /** URLs of the photos. The list becomes empty about four months after the claim is decided or retracted. */
  readonly evidenceUrls: readonly string[];
}

/** A claim with all details (specification 2.8). */
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
  /** When it was retracted, an ISO 8601 timestamp; null if it was not retracted. */
  readonly retracted: string | null;
  /** The operator's decision; null while pending, and after a retraction. */
  readonly decision: ClaimDecision | null;
  /** URLs of the photos of a package-missing claim; empty for other claims. */
  readonly evidenceUrls: readonly string[];
  /** The lines of the claim. */
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
    claimcategories: array(categorySummary()),
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
    evidenceUrls: array(z.string()),
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
    evidenceUrls: array(z.string()),
    claimlines: array(claimline()),
  });
