import {
  createItemIssues,
  createPackageMissing,
  getClaim,
  listClaimcategories,
  listClaims,
  retractClaim,
} from "../../resources/claims/claims.endpoints.ts";
import { found, Problem } from "../core/problem.ts";
import { instantOf } from "../http/instant.ts";
import { type Route, route } from "../http/route.ts";
import type { StoredClaim } from "../records/records.ts";
import { statusOf } from "../rules/claims.ts";
import { closedAt } from "../rules/evidence.ts";
import { claimItems, claimPackage } from "../rules/file-claim.ts";
import { toClaim, toClaimSummary } from "./claim-response.ts";

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
    if (statusOf(claim) !== "pending") throw new Problem("claim_not_pending", `The claim is ${statusOf(claim)}`);
    claim.retracted = world.now();
  }),
];
