import type { OrderReference } from "../../references/references.ts";
import { ControlError } from "../core/control-error.ts";
import { type Award, awards, type StoredClaim, type StoredLineDecision } from "../records/records.ts";
import type { World } from "../state/world.ts";
import { statusOf } from "./claims.ts";
import { addOrder } from "./orders.ts";

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
  const status = statusOf(claim);
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
