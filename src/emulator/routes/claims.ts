import {
  type Claim,
  type Claimline,
  type ClaimlineDecision,
  type ClaimSummary,
  createItemIssues,
  createPackageMissing,
  getClaim,
  listClaimcategories,
  listClaims,
  retractClaim,
} from "../../resources/claims/claims.endpoints.ts";
import { found, Problem } from "../base/problem.ts";
import { instantOf } from "../http/instant.ts";
import { type Route, route } from "../http/route.ts";
import { categoryOf, claimItems, claimPackage, claimStatus, summaryOf } from "../rules/claims.ts";
import { closedAt, evidenceUrls } from "../rules/files.ts";
import { toTimestamp, type World } from "../state/world.ts";
import type { StoredClaim, StoredClaimline, StoredLineDecision } from "../work/records.ts";

const toTimestampOrNull = (at: number | null | undefined) => (typeof at === "number" ? toTimestamp(at) : null);

/** A claim as an entry of a list (specification 2.8). */
function toClaimSummary(world: World, claim: StoredClaim): ClaimSummary {
  const categories = new Set(claim.lines.map(({ categoryReference }) => categoryOf(world, categoryReference)));
  return {
    reference: claim.reference,
    orderReference: claim.orderReference,
    status: claimStatus(claim),
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
function toClaim(world: World, claim: StoredClaim): Claim {
  const { decision } = claim;
  return {
    reference: claim.reference,
    orderReference: claim.orderReference,
    shipmentReference: claim.shipmentReference,
    status: claimStatus(claim),
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

/** By default, the list has the claims that were closed in the last 14 days (specification 8). Milliseconds. */
const listedClosed = 14 * 86_400_000;

export const claimRoutes: readonly Route[] = [
  route(listClaimcategories, ({ world }) => world.claimcategories),
  route(createPackageMissing, ({ body, ...caller }) => ({ reference: claimPackage(caller, body).reference })),
  route(createItemIssues, ({ body, ...caller }) => ({ reference: claimItems(caller, body).reference })),
  route(listClaims, ({ world, query }) => {
    const since = instantOf(query?.closedAfter ?? "") ?? world.now() - listedClosed;
    const isListed = (claim: StoredClaim, from: number) => (closedAt(claim) ?? from) >= from;
    const { items, nextCursor } = world.claims.page(query?.cursor, isListed, since);
    return { items: items.map((claim) => toClaimSummary(world, claim)), nextCursor };
  }),
  route(getClaim, ({ world, path }) =>
    toClaim(world, found(world.claims.get(path.claimReference), `Claim ${path.claimReference}`)),
  ),
  route(retractClaim, ({ world, path }) => {
    const claim = found(world.claims.get(path.claimReference), `Claim ${path.claimReference}`);
    if (claimStatus(claim) !== "pending") throw new Problem("claim_not_pending", `The claim is ${claimStatus(claim)}`);
    claim.retracted = world.now();
  }),
];
