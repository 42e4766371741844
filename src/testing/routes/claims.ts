import type { ItemIssuesInput, PackageMissingInput } from "../../resources/claims/claim-input.schema.ts";
import {
  createItemIssues,
  createPackageMissing,
  getClaim,
  listClaimcategories,
  listClaims,
  retractClaim,
} from "../../resources/claims/claims.endpoints.ts";
import { latestTime } from "../../util/timestamp.ts";
import { packageMissing } from "../catalog/claimcategories.ts";
import { found, known, Problem } from "../http/problem.ts";
import { type Caller, type Route, route } from "../http/route.ts";
import {
  addClaim,
  categoryOf,
  claimableShipment,
  claimedQuantity,
  refuseMissingPackage,
  shippedQuantity,
  statusOf,
} from "../rules/claims.ts";
import { closedAt } from "../rules/evidence.ts";
import type { StoredClaim, StoredClaimline } from "../state/records.ts";
import type { World } from "../state/world.ts";
import { toClaim, toClaimSummary } from "./claim-response.ts";

/** By default, the list has the claims that were closed in the last 14 days (specification 8). Milliseconds. */
const listedClosed = 14 * 86_400_000;

/** Files a package-missing claim. */
export function claimPackage(
  { world, key }: Caller,
  { shipmentReference, evidenceReferences }: PackageMissingInput,
): StoredClaim {
  const shipment = claimableShipment(world, shipmentReference);
  refuseMissingPackage(world, shipment);
  const category = known(
    world.claimcategories.find(({ name }) => name === packageMissing),
    packageMissing,
  );
  const [first] = shipment.parcels;
  const lines = shipment.parcels.flatMap((parcel) =>
    parcel.lines.map(({ index, quantity }) => ({
      ...productOf(world, parcel.orderReference, index),
      quantity,
      categoryReference: category.reference,
      evidence: [],
    })),
  );
  return addClaim(world, {
    createdBy: key.reference,
    shipmentReference,
    orderReference: known(first, "The shipment's order").orderReference,
    comment: "",
    lines,
    evidence: evidenceReferences ?? [],
  });
}

function productOf(world: World, orderReference: StoredClaim["orderReference"], index: number) {
  const line = world.orders.get(orderReference)?.lines.find((candidate) => candidate.index === index);
  const { productReference, imageReference } = known(line, `Line ${index} of ${orderReference}`);
  return { orderReference, orderlineIndex: index, productReference, imageReference };
}

type ClaimlineInput = ItemIssuesInput["claimlines"][number];

function checkClaimline(world: World, { claimcategoryReference, evidenceReferences }: ClaimlineInput): void {
  const category = categoryOf(world, claimcategoryReference);
  if (category.name === packageMissing) {
    throw new Problem(
      "package_missing_category_not_allowed",
      `The category ${packageMissing} is reserved for POST /claim-package-missing`,
    );
  }
  if (category.evidenceRequired && (evidenceReferences ?? []).length === 0) {
    throw new Problem("evidence_required", `${category.name} needs at least one evidence reference`);
  }
}

/** Files an item-issues claim. */
export function claimItems({ world, key }: Caller, input: ItemIssuesInput): StoredClaim {
  const { shipmentReference, orderReference, comment, claimlines } = input;
  const shipment = claimableShipment(world, shipmentReference);
  known(world.orders.get(orderReference), `Order ${orderReference}`);
  for (const { orderlineIndex: index } of claimlines) {
    const shipped = shippedQuantity(shipment, orderReference, index);
    const requested = claimlines
      .filter((line) => line.orderlineIndex === index)
      .reduce((sum, line) => sum + line.quantity, 0);
    const claimed = claimedQuantity(world, shipment, orderReference, index);
    if (requested + claimed <= shipped) continue;
    const message = `Line ${index} has ${shipped} shipped and ${claimed} claimed; ${requested} more cannot be claimed`;
    throw new Problem("claimed_quantity_exceeds_shipped", message);
  }
  for (const line of claimlines) checkClaimline(world, line);
  const lines = claimlines.map(
    ({ orderlineIndex, quantity, claimcategoryReference, evidenceReferences }): StoredClaimline => ({
      ...productOf(world, orderReference, orderlineIndex),
      quantity,
      categoryReference: claimcategoryReference,
      evidence: evidenceReferences ?? [],
    }),
  );
  return addClaim(world, {
    createdBy: key.reference,
    shipmentReference,
    orderReference,
    comment: comment ?? "",
    lines,
    evidence: [],
  });
}

export const claimRoutes: readonly Route[] = [
  route(listClaimcategories, ({ world }) => world.claimcategories),
  route(createPackageMissing, ({ body, ...caller }) => ({ reference: claimPackage(caller, body).reference })),
  route(createItemIssues, ({ body, ...caller }) => ({ reference: claimItems(caller, body).reference })),
  route(listClaims, ({ world, query }) => {
    const since = query?.closedAfter === undefined ? world.now() - listedClosed : latestTime(query.closedAfter, 0);
    if (!Number.isFinite(since))
      throw new Problem("unknown_input_error", "closedAfter: expected an ISO 8601 timestamp");
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
