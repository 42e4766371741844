import type { ItemIssuesInput, PackageMissingInput } from "../../resources/claims/claim-input.schema.ts";
import { packageMissing } from "../catalog/claimcategories.ts";
import { known, Problem } from "../core/problem.ts";
import type { StoredClaim, StoredClaimline } from "../records/records.ts";
import type { Caller, World } from "../state/world.ts";
import {
  addClaim,
  categoryOf,
  claimableShipment,
  claimedQuantity,
  refuseMissingPackage,
  shippedQuantity,
} from "./claims.ts";

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
