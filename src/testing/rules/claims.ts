import type { ClaimcategoryReference, OrderReference, ShipmentReference } from "../../references/references.ts";
import type { Claimcategory, ClaimcategorySummary, ClaimStatus } from "../../resources/claims/claims.schema.ts";
import { calendarDay, toDate } from "../amsterdam.ts";
import { known, Problem } from "../http/problem.ts";
import type { StoredClaim, StoredShipment } from "../state/records.ts";
import type { World } from "../state/world.ts";
import { checkEvidence, useEvidence } from "./evidence.ts";
import { promisedDays } from "./shipping.ts";

const day = 86_400_000;

/** Days after shipment in which a claim can be filed (specification 8). */
const warranty = 100;

/** Calendar days from the ship day to the first day for a package-missing claim (specification 4.9). */
const soonest = 2;

export const statusOf = (claim: StoredClaim): ClaimStatus => {
  if (claim.retracted !== null) return "retracted";
  if (claim.decision === null) return "pending";
  return claim.decision.award === "rejection" ? "rejected" : "resolved";
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

/** Whether a claim still covers its items. A retracted or rejected claim does not, so that they can be claimed again. */
const covers = (claim: StoredClaim): boolean => ["pending", "resolved"].includes(statusOf(claim));

/** The quantity of a line that claims already cover (specification 4.9: open claims count; refunded and replaced items do, too). */
export function claimedQuantity(world: World, shipment: StoredShipment, order: OrderReference, index: number): number {
  return claimsOf(world, shipment)
    .filter(covers)
    .flatMap(({ lines }) => lines)
    .filter((line) => line.orderReference === order && line.orderlineIndex === index)
    .reduce((sum, { quantity }) => sum + quantity, 0);
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
  return claim;
}
