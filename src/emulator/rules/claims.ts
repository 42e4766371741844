import type { ClaimcategoryReference, OrderReference, ShipmentReference } from "../../references/references.ts";
import type {
  Claimcategory,
  ClaimcategorySummary,
  ClaimStatus,
  ItemIssuesInput,
  PackageMissingInput,
} from "../../resources/claims/claims.endpoints.ts";
import { calendarDay, toDate } from "../base/amsterdam.ts";
import { ControlError } from "../base/control-error.ts";
import { known, Problem } from "../base/problem.ts";
import { packageMissing } from "../catalog/catalog.ts";
import type { Caller, World } from "../state/world.ts";
import {
  type Award,
  awards,
  type StoredClaim,
  type StoredClaimline,
  type StoredLineDecision,
  type StoredShipment,
} from "../work/records.ts";
import { checkEvidence, useEvidence } from "./files.ts";
import { addOrder } from "./orders.ts";
import { promisedDays } from "./shipping.ts";

const day = 86_400_000;

/** Days after shipment in which a claim can be filed (specification 8). */
const warranty = 100;

/** Calendar days from the ship day to the first day for a package-missing claim (specification 4.9). */
const soonest = 2;

const isAwarded = ({ replacement, refund }: StoredLineDecision): boolean => replacement + refund > 0;

export const claimStatus = (claim: StoredClaim): ClaimStatus => {
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
function claimableShipment(world: World, reference: ShipmentReference): StoredShipment {
  const shipment = known(world.shipments.get(reference), `Shipment ${reference}`);
  if (world.now() <= shipment.shipped + warranty * day) return shipment;
  throw new Problem("warranty_expired", `The shipment is more than ${warranty} days old`);
}

const claimsOf = (world: World, shipment: StoredShipment): readonly StoredClaim[] =>
  world.claims.all().filter((claim) => claim.shipmentReference === shipment.reference && claim.retracted === null);

/** Refuses a package-missing claim that the rules do not allow (specification 4.9, package-missing rules). */
function refuseMissingPackage(world: World, shipment: StoredShipment): void {
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
function shippedQuantity(shipment: StoredShipment, order: OrderReference, index: number): number {
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
function claimedQuantity(world: World, shipment: StoredShipment, order: OrderReference, index: number): number {
  return claimsOf(world, shipment)
    .flatMap((claim) => claim.lines.map((line, position) => ({ ...line, covered: coveredBy(claim, position) })))
    .filter((line) => line.orderReference === order && line.orderlineIndex === index)
    .reduce((sum, { covered }) => sum + covered, 0);
}

/** The fields of a new, valid claim. */
type ClaimDraft = Pick<
  StoredClaim,
  "orderReference" | "shipmentReference" | "comment" | "lines" | "evidence" | "createdBy"
>;

/** Adds a claim and marks its evidence as used. */
function addClaim(world: World, draft: ClaimDraft): StoredClaim {
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

type FiledLine = ItemIssuesInput["claimlines"][number];

function checkClaimline(world: World, { claimcategoryReference, evidenceReferences }: FiledLine): void {
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

/** The decision about one line of a claim. The quantities add up to that of the line. */
export interface ClaimlineReview {
  readonly orderlineIndex: number;
  /** Which order the line belongs to. Only a claim of a combined shipment needs it. */
  readonly orderReference?: OrderReference;
  /** Units to replace. Default 0. */
  readonly replacement?: number;
  /** Units to refund. Default 0. */
  readonly refund?: number;
  /** Units to reject. Default 0. */
  readonly rejection?: number;
  /** Default empty. */
  readonly comment?: string;
}

const undecided: StoredLineDecision = { replacement: 0, refund: 0, rejection: 0, comment: "" };

/** The same decision for all units of each line. */
export const decideAll = (claim: StoredClaim, award: Award, comment: string): readonly StoredLineDecision[] =>
  claim.lines.map(({ quantity }) => ({ ...undecided, [award]: quantity, comment }));

/** A decision for each line of a claim. Two lines with the same index are decided in the order of the claim. */
export function decideLines(claim: StoredClaim, given: readonly ClaimlineReview[]): readonly StoredLineDecision[] {
  const left = [...given];
  const decisions = claim.lines.map(({ orderReference: order, orderlineIndex: index, quantity }) => {
    const position = left.findIndex(
      ({ orderlineIndex, orderReference = order }) => orderlineIndex === index && orderReference === order,
    );
    const review = position < 0 ? undefined : left.splice(position, 1)[0];
    if (review === undefined) throw new ControlError(`\`lines\` has no decision for line ${index} of ${order}`);
    const { replacement = 0, refund = 0, rejection = 0, comment = "" } = review;
    const sum = replacement + refund + rejection;
    if (sum === quantity) return { replacement, refund, rejection, comment };
    throw new ControlError(
      `Line ${index} has the quantity ${quantity}; replacement, refund and rejection add up to ${sum}`,
    );
  });
  const [extra] = left;
  if (extra !== undefined) throw new ControlError(`Line ${extra.orderlineIndex} is not in the claim`);
  return decisions;
}

/** What all lines were awarded; `mixed` when they differ. */
function awardOf(decisions: readonly StoredLineDecision[]): Award | "mixed" {
  const awarded = awards.filter((award) => decisions.some((decision) => decision[award] > 0));
  return awarded.length === 1 && awarded[0] !== undefined ? awarded[0] : "mixed";
}

/** Creates an order of the replaced items, to the address of the claimed shipment. Returns null when nothing is replaced. */
function replaceItems(
  world: World,
  claim: StoredClaim,
  decisions: readonly StoredLineDecision[],
): OrderReference | null {
  const lines = claim.lines
    .map(({ productReference, imageReference }, position) => ({
      productReference,
      imageReference,
      quantity: decisions[position]?.replacement ?? 0,
      annotations: [],
    }))
    .filter(({ quantity }) => quantity > 0);
  if (lines.length === 0) return null;
  const order = world.orders.get(claim.orderReference);
  const store = world.stores.get(order?.storeReference);
  if (order === undefined || store === undefined) throw new ControlError(`${claim.reference} has no order to replace`);
  return addOrder(world, {
    store,
    shippingKind: order.shippingKind,
    customIdentifier: undefined,
    minimalLevel: order.minimalLevel,
    address: world.addresses.get(world.shipments.get(claim.shipmentReference)?.addressReference) ?? null,
    settles: claim.reference,
    lines,
  }).reference;
}

/** Refuses the review of a claim that is decided or retracted. */
export function refuseReviewed(claim: StoredClaim): void {
  const status = claimStatus(claim);
  if (status === "pending") return;
  throw new ControlError(`Only a pending claim can be reviewed; ${claim.reference} is ${status}`);
}

/** Decides a pending claim. Returns the reference of the replacement order; null without one. */
export function review(
  world: World,
  claim: StoredClaim,
  lines: readonly StoredLineDecision[],
  { refundShippingCosts = false, comment = "" } = {},
): OrderReference | null {
  claim.replacement = replaceItems(world, claim, lines);
  claim.decision = { award: awardOf(lines), decided: world.now(), refundShippingCosts, comment, lines };
  return claim.replacement;
}
