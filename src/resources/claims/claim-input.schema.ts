import * as z from "zod/mini";
import type {
  ClaimcategoryReference,
  ClaimReference,
  EvidenceReference,
  OrderReference,
  ShipmentReference,
} from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { count, open, strict } from "../../schemas/shape.ts";

/** A parcel that never came (specification 4.9). It claims all items of the shipment. */
export interface PackageMissingInput {
  readonly shipmentReference: ShipmentReference;
  /** At most 3. Default: none. */
  readonly evidenceReferences?: readonly EvidenceReference[] | undefined;
}

/** What is wrong with the items of one orderline (specification 4.9). */
export interface ClaimlineInput {
  /** The `index` of the orderline; the first is 1. */
  readonly orderlineIndex: number;
  /** Units: at most what was shipped, open claims counted. */
  readonly quantity: number;
  /** One of `claims.categories.list()`, but for 'Package missing'. */
  readonly claimcategoryReference: ClaimcategoryReference;
  /** At most 3; at least 1 when the category has `evidenceRequired`. Default: none. */
  readonly evidenceReferences?: readonly EvidenceReference[] | undefined;
}

/** Items that are not as they should be (specification 4.9). */
export interface ItemIssuesInput {
  readonly shipmentReference: ShipmentReference;
  readonly orderReference: OrderReference;
  /** At most 1000 characters. */
  readonly comment?: string | undefined;
  /** At least one. */
  readonly claimlines: readonly ClaimlineInput[];
}

/** What the service responds to a filed claim. */
export interface CreatedClaim {
  readonly reference: ClaimReference;
}

/** What filing a claim gives. */
export interface FiledClaim extends CreatedClaim {
  /** Whether a look-up found the claim after its response was lost. */
  readonly recovered: boolean;
}

export const createdClaim = () => open<CreatedClaim>({ reference: reference("Claim") });

const evidenceReferences = () =>
  z._default(z.array(reference("Evidence")).check(z.maxLength(3, { error: "at most 3 evidence references" })), []);

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
    claimlines: z
      .array(
        strict<ClaimlineInput>({
          orderlineIndex: count(1),
          quantity: count(1),
          claimcategoryReference: reference("Claimcategory"),
          evidenceReferences: evidenceReferences(),
        }),
      )
      .check(z.minLength(1, { error: "name at least one claimline" })),
  });
