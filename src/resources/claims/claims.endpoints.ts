import * as z from "zod/mini";
import { cursor, endpoint, field, json, list, nothing, page } from "../../http/endpoint.ts";
import type {
  ClaimcategoryReference,
  ClaimReference,
  EvidenceReference,
  ImageReference,
  OrderReference,
  ProductReference,
  ShipmentReference,
} from "../../references/references.ts";
import {
  array,
  count,
  descriptive,
  flag,
  type OpenEnum,
  open,
  reference,
  strict,
  text,
  timestamp,
  timestampInput,
} from "../../schemas/shape.ts";

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

/** The states of a claim (specification 3.1). */
export type KnownClaimStatus = "pending" | "resolved" | "rejected" | "retracted";

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
  /** URLs of the photos of a package-missing claim. For other claims the specification promises no list: it can be empty or missing. */
  readonly evidenceUrls?: readonly string[] | null;
  /** The lines of the claim. */
  readonly claimlines: readonly Claimline[];
}

const categoryFields = () => ({ reference: reference("Claimcategory"), name: text() });
const categorySummary = () => open<ClaimcategorySummary>(categoryFields());

const claimcategory = () => open<Claimcategory>({ ...categoryFields(), evidenceRequired: flag() });

/** An open enum, but essential: decisions depend on it. */
const status = (): z.core.$ZodType<ClaimStatus> => z.string();

/** A time that is null until it is set. */
const maybeTimestamp = () => descriptive(z.nullable(timestamp()));

const evidenceUrls = () => descriptive(array(z.string()));

const claimSummary = () =>
  open<ClaimSummary>({
    reference: reference("Claim"),
    orderReference: reference("Order"),
    status: status(),
    claimcategories: descriptive(array(categorySummary()), false),
    created: timestamp(),
    retracted: maybeTimestamp(),
    decided: maybeTimestamp(),
  });

const claimline = () =>
  open<Claimline>({
    productReference: reference("Product"),
    orderlineIndex: count(1),
    quantity: count(0),
    imageReference: z.nullish(reference("Image")),
    claimcategory: categorySummary(),
    decision: descriptive(
      z.nullable(
        open<ClaimlineDecision>({
          replacementQuantity: count(0),
          refundQuantity: count(0),
          rejectionQuantity: count(0),
          comment: z.nullish(text()),
        }),
      ),
      false,
    ),
    evidenceUrls: evidenceUrls(),
  });

const claim = () =>
  open<Claim>({
    reference: reference("Claim"),
    orderReference: reference("Order"),
    shipmentReference: reference("Shipment"),
    status: status(),
    comment: z.nullish(text()),
    createdBy: z.nullish(text()),
    created: timestamp(),
    retracted: maybeTimestamp(),
    decision: descriptive(
      z.nullable(
        open<ClaimDecision>({
          decided: timestamp(),
          refundShippingCosts: flag(),
          comment: z.nullish(text()),
        }),
      ),
    ),
    evidenceUrls: z.nullish(evidenceUrls()),
    claimlines: array(claimline()),
  });

/** A claim for a missing package. It covers all items of the shipment (specification 4.9). */
export interface PackageMissingInput {
  readonly shipmentReference: ShipmentReference;
  /** Photos, at most 3. Default: none. */
  readonly evidenceReferences?: readonly EvidenceReference[] | undefined;
}

/** One line of a claim: the problem with the items of one orderline (specification 4.9). */
export interface ClaimlineInput {
  /** The `index` of the orderline. The first index is 1. */
  readonly orderlineIndex: number;
  /** Number of claimed units. With the units of open claims, at most the shipped quantity. */
  readonly quantity: number;
  /** A category from `claims.categories.list()`, except 'Package missing'. */
  readonly claimcategoryReference: ClaimcategoryReference;
  /** Photos, at most 3, and at least 1 if the category has `evidenceRequired: true`. Default: none. */
  readonly evidenceReferences?: readonly EvidenceReference[] | undefined;
}

/** A claim about defective or wrong items of a shipment (specification 4.9). */
export interface ItemIssuesInput {
  readonly shipmentReference: ShipmentReference;
  readonly orderReference: OrderReference;
  /** A comment of at most 1000 characters. */
  readonly comment?: string | undefined;
  /** The lines of the claim, at least one. */
  readonly claimlines: readonly ClaimlineInput[];
}

/** The service's response to a filed claim. */
export interface CreatedClaim {
  readonly reference: ClaimReference;
}

/** A filed claim. */
export interface FiledClaim extends CreatedClaim {
  /** True if an earlier call, perhaps of another process, filed the claim, so that this call filed none. */
  readonly existed: boolean;
  /** True if this call filed the claim, but its response was lost, and a look-up found the claim. */
  readonly recovered: boolean;
}

const createdClaim = () => open<CreatedClaim>({ reference: reference("Claim") });

const evidenceReferences = () =>
  z._default(array(reference("Evidence")).check(z.maxLength(3, { error: "at most 3 evidence references" })), []);

const packageMissingInput = () =>
  strict<PackageMissingInput>({
    shipmentReference: reference("Shipment"),
    evidenceReferences: evidenceReferences(),
  });

const itemIssuesInput = () =>
  strict<ItemIssuesInput>({
    shipmentReference: reference("Shipment"),
    orderReference: reference("Order"),
    comment: z.optional(z.string().check(z.maxLength(1000, { error: "at most 1000 characters" }))),
    claimlines: array(
      strict<ClaimlineInput>({
        orderlineIndex: count(1),
        quantity: count(1),
        claimcategoryReference: reference("Claimcategory"),
        evidenceReferences: evidenceReferences(),
      }),
    ).check(z.minLength(1, { error: "expected at least one claimline" })),
  });

export const listClaimcategories = endpoint({
  call: "claims.categories.list",
  method: "GET",
  path: "/claimcategories",
  response: list("claimcategories", claimcategory),
  repeat: "safe",
});

export const createPackageMissing = endpoint({
  call: "claims.createPackageMissing",
  method: "POST",
  path: "/claim-package-missing",
  request: json<PackageMissingInput>("claim", packageMissingInput),
  response: field("claim", createdClaim),
  repeat: "recoverable",
});

export const createItemIssues = endpoint({
  call: "claims.createItemIssues",
  method: "POST",
  path: "/claim-item-issues",
  request: json<ItemIssuesInput>("claim", itemIssuesInput),
  response: field("claim", createdClaim),
  repeat: "recoverable",
});

export const listClaims = endpoint({
  call: "claims.list",
  method: "GET",
  path: "/claims",
  query: { ...cursor, closedAfter: () => z.optional(timestampInput()) },
  response: page("claims", claimSummary),
  repeat: "safe",
});

export const getClaim = endpoint({
  call: "claims.get",
  method: "GET",
  path: "/claims/{claimReference}",
  response: field("claim", claim),
  repeat: "safe",
});

export const retractClaim = endpoint({
  call: "claims.retract",
  method: "POST",
  path: "/claims/{claimReference}/retract",
  response: nothing,
  repeat: "recoverable",
});
