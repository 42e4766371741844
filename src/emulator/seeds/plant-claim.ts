import type { ClaimReference, OrderReference, ShipmentReference } from "../../references/references.ts";
import { packageMissing } from "../catalog/claimcategories.ts";
import { ControlError } from "../core/control-error.ts";
import { sampleImage } from "../pictures/sample-image.ts";
import type { StoredClaim } from "../records/records.ts";
import { addEvidence } from "../rules/evidence.ts";
import { claimItems, claimPackage } from "../rules/file-claim.ts";
import { decideAll, review } from "../rules/review.ts";
import type { SeedClaim } from "../settings/seed.schema.ts";
import type { Caller, World } from "../state/world.ts";
import { inPast } from "./in-past.ts";

/** The first key of a world's organization. */
function callerOf(world: World): Caller {
  const [key] = world.keys.values();
  if (key === undefined) throw new ControlError(`${world.organization.name} has no key`);
  return { world, key };
}

function file(world: World, order: OrderReference, shipment: ShipmentReference, seed: SeedClaim): StoredClaim {
  const { category: name = "damaged", lines, comment = "" } = seed;
  const reference = world.make.named("Claimcategory", name);
  const category = world.claimcategories.find((candidate) => candidate.reference === reference);
  if (category === undefined) throw new ControlError(`There is no claim category ${name}`);
  if (category.name === packageMissing) {
    if (lines !== undefined) throw new ControlError("A claim of a missing package covers all items: remove `lines`");
    return claimPackage(callerOf(world), { shipmentReference: shipment });
  }
  const first = world.shipments.get(shipment)?.parcels[0]?.lines[0];
  const claimed = lines ?? [{ index: first?.index ?? 1, quantity: 1 }];
  return claimItems(callerOf(world), {
    shipmentReference: shipment,
    orderReference: order,
    comment,
    claimlines: claimed.map(({ index, quantity }) => ({
      orderlineIndex: index,
      quantity,
      claimcategoryReference: reference,
      evidenceReferences: category.evidenceRequired ? [addEvidence(world, sampleImage("evidence")).reference] : [],
    })),
  });
}

/** Files a claim about a shipment, and decides it when the seed says so. */
export function plantClaim(
  world: World,
  order: OrderReference,
  shipment: ShipmentReference,
  seed: SeedClaim,
): ClaimReference {
  const past = inPast(world, seed.daysAgo);
  if (past.now() < (world.shipments.get(shipment)?.shipped ?? 0)) {
    throw new ControlError("The claim is older than its shipment: change `daysAgo`");
  }
  const claim = file(past, order, shipment, seed);
  const { decision } = seed;
  if (decision === "retracted") claim.retracted = world.now();
  else if (decision !== undefined) review(world, claim, decideAll(claim, decision, ""));
  return claim.reference;
}
