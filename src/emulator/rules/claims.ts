import type { ClaimcategoryReference, OrderReference, ShipmentReference } from "../../references/references.ts";
import type { Claimcategory, ClaimcategorySummary, ClaimStatus } from "../../resources/claims/claims.schema.ts";
import { calendarDay, toDate } from "../core/amsterdam.ts";
import { known, Problem } from "../core/problem.ts";
import type { StoredClaim, StoredLineDecision, StoredShipment } from "../records/records.ts";
import type { World } from "../state/world.ts";
import { checkEvidence, useEvidence } from "./evidence.ts";
import { promisedDays } from "./shipping.ts";

const day = 86_400_000;

/** Days after shipment in which a claim can be filed (specification 8). */
const warranty = 100;

/** Calendar days from the ship day to the first day for a package-missing claim (specification 4.9). */
const soonest = 2;

const isAwarded = ({ replacement, refund }: StoredLineDecision): boolean => replacement + refund > 0;

export const statusOf = (claim: StoredClaim): ClaimStatus => {
  if (claim.retracted !== null) return "retracted";
  if (claim.decision === null) return "pending";
  return claim.decision.lines.some(isAwarded) ? "resolved" : "rejected";
};

/** The claim category with a reference. */
export const categoryOf = (world: World, reference: ClaimcategoryReference): Claimcategory =>
  known(
    world.claimcategories.find((category) => category.reference === reference),
    `Claim category ${reference}`,
  );

export const summaryOf = ({ reference, name }: Claimcategory): ClaimcategorySummary => ({ reference, name });

/** Returns the shipment of a claim, or throws when its warranty is over. */
export function claimableShipment(world: World, reference: ShipmentReference): StoredShipment {
  const shipment = known(world.shipments.get(reference), `Shipment ${reference}`);
  if (world.now() <= shipment.shipped + warranty * day) return shipment;
  throw new Problem("warranty_expired", `The shipment is more than ${warranty} days old`);
}

const claimsOf = (world: World, shipment: StoredShipment): readonly StoredClaim[] =>
  world.claims.all().filter((claim) => claim.shipmentReference === shipment.reference && claim.retracted === null);

/** Refuses a package-missing claim that the rules do not allow (specification 4.9, package-missing rules). */
export function refuseMissingPackage(world: World, shipment: StoredShipment): void {
  const country = world.addresses.get(shipment.addressReference)?.address.countryCode ?? "NL";
  const from = calendarDay(shipment.shipped) + Math.max(soonest, promisedDays(country, shipment.level) + 1);
  if (calendarDay(world.now()) < from) {
    throw new Problem("shipment_too_recent", `A package-missing claim is possible from ${toDate(from)} on`);
  }
  if (claimsOf(world, shipment).length > 0) {
    throw new Problem("shipment_already_claimed", "The shipment already has a claim");
  }
  const orders = new Set(shipment.parcels.map(({ orderReference }) => orderReference));
  const replaced = world.claims.all().filter((claim) => claim.replacement !== null);
  if (replaced.some(({ lines }) => lines.some(({ orderReference }) => orders.has(orderReference)))) {
    throw new Problem("order_already_replaced", "The order already has a replacement");
  }
}

/** The quantity of a line in a shipment. Throws when the shipment does not have the order or the line. */
export function shippedQuantity(shipment: StoredShipment, order: OrderReference, index: number): number {
  const parcel = shipment.parcels.find(({ orderReference }) => orderReference === order);
  if (parcel === undefined) throw new Problem("order_not_in_shipment", `The order ${order} is not in the shipment`);
  const line = parcel.lines.find((candidate) => candidate.index === index);
  if (line === undefined) throw new Problem("orderline_not_in_shipment", `Line ${index} is not in the shipment`);
  return line.quantity;
}

/** The quantity of a claim's line that the claim still covers. Rejected units are not covered, so that they can be claimed again. */
const coveredBy = ({ lines, decision }: StoredClaim, position: number): number =>
  (lines[position]?.quantity ?? 0) - (decision?.lines[position]?.rejection ?? 0);

/** The quantity of a line that claims already cover (specification 4.9: open claims count; refunded and replaced items do, too). */
export function claimedQuantity(world: World, shipment: StoredShipment, order: OrderReference, index: number): number {
  return claimsOf(world, shipment)
    .flatMap((claim) => claim.lines.map((line, position) => ({ ...line, covered: coveredBy(claim, position) })))
    .filter((line) => line.orderReference === order && line.orderlineIndex === index)
    .reduce((sum, { covered }) => sum + covered, 0);
}

/** The fields of a new, valid claim. */
export type ClaimDraft = Pick<
  StoredClaim,
  "orderReference" | "shipmentReference" | "comment" | "lines" | "evidence" | "createdBy"
>;

/** Adds a claim and marks its evidence as used. */
export function addClaim(world: World, draft: ClaimDraft): StoredClaim {
  const evidence = [...draft.evidence, ...draft.lines.flatMap((line) => line.evidence)];
  checkEvidence(world, evidence);
  const claim = world.claims.add({
    ...draft,
    reference: world.make.next("Claim"),
    created: world.now(),
    decision: null,
    retracted: null,
    replacement: null,
  });
  useEvidence(world, evidence, claim.reference);
  world.automation.planReview(claim);
  return claim;
}
