import * as z from "zod/mini";
import type {
  ClaimcategoryReference,
  ClaimReference,
  EvidenceReference,
  OrderReference,
  ShipmentReference,
} from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { array, count, open, strict } from "../../schemas/shape.ts";

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
  /** Whether a look-up found the claim after its response was lost. */
  readonly recovered: boolean;
}

export const createdClaim = () => open<CreatedClaim>({ reference: reference("Claim") });

const evidenceReferences = () =>
  z._default(array(reference("Evidence")).check(z.maxLength(3, { error: "at most 3 evidence references" })), []);

export const packageMissingInput = () =>
  strict<PackageMissingInput>({
    shipmentReference: reference("Shipment"),
    evidenceReferences: evidenceReferences(),
  });

export const itemIssuesInput = () =>
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
