import type { Claimcategory } from "../../resources/claims/claims.schema.ts";
import type { ReferenceMaker } from "../core/reference-maker.ts";

/** The category that is reserved for package-missing claims (specification 2.8). */
export const packageMissing = "Package missing";

export const claimcategoryTable = {
  packageMissing: { name: packageMissing, evidenceRequired: false },
  misprint: { name: "Misprint", evidenceRequired: true },
  damaged: { name: "Damaged in transit", evidenceRequired: true },
  wrongItem: { name: "Wrong item", evidenceRequired: false },
} as const;

export const createClaimcategories = (make: ReferenceMaker): readonly Claimcategory[] =>
  Object.entries(claimcategoryTable).map(([key, category]) => ({
    reference: make.named("Claimcategory", key),
    ...category,
  }));
