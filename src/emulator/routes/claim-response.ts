import type { Claim, Claimline, ClaimlineDecision, ClaimSummary } from "../../resources/claims/claims.schema.ts";
import type { StoredClaim, StoredClaimline, StoredLineDecision } from "../records/records.ts";
import { categoryOf, statusOf, summaryOf } from "../rules/claims.ts";
import { evidenceUrls } from "../rules/evidence.ts";
import { toTimestamp, type World } from "../state/world.ts";

const toTimestampOrNull = (at: number | null | undefined) => (typeof at === "number" ? toTimestamp(at) : null);

/** A claim as an entry of a list (specification 2.8). */
export function toClaimSummary(world: World, claim: StoredClaim): ClaimSummary {
  const categories = new Set(claim.lines.map(({ categoryReference }) => categoryOf(world, categoryReference)));
  return {
    reference: claim.reference,
    orderReference: claim.orderReference,
    status: statusOf(claim),
    claimcategories: [...categories].map(summaryOf),
    created: toTimestamp(claim.created),
    retracted: toTimestampOrNull(claim.retracted),
    decided: toTimestampOrNull(claim.decision?.decided),
  };
}

const toLineDecision = (decision: StoredLineDecision | undefined): ClaimlineDecision | null =>
  decision === undefined
    ? null
    : {
        replacementQuantity: decision.replacement,
        refundQuantity: decision.refund,
        rejectionQuantity: decision.rejection,
        comment: decision.comment,
      };

const toClaimline = (world: World, claim: StoredClaim, line: StoredClaimline, position: number): Claimline => ({
  productReference: line.productReference,
  orderlineIndex: line.orderlineIndex,
  quantity: line.quantity,
  imageReference: line.imageReference,
  claimcategory: summaryOf(categoryOf(world, line.categoryReference)),
  decision: toLineDecision(claim.decision?.lines[position]),
  evidenceUrls: evidenceUrls(world, claim, line.evidence),
});

/** A claim in full (specification 2.8). */
export function toClaim(world: World, claim: StoredClaim): Claim {
  const { decision } = claim;
  return {
    reference: claim.reference,
    orderReference: claim.orderReference,
    shipmentReference: claim.shipmentReference,
    status: statusOf(claim),
    comment: claim.comment,
    createdBy: claim.createdBy,
    created: toTimestamp(claim.created),
    retracted: toTimestampOrNull(claim.retracted),
    decision:
      decision === null
        ? null
        : {
            decided: toTimestamp(decision.decided),
            refundShippingCosts: decision.refundShippingCosts,
            comment: decision.comment,
          },
    evidenceUrls: evidenceUrls(world, claim, claim.evidence),
    claimlines: claim.lines.map((line, position) => toClaimline(world, claim, line, position)),
  };
}
