import type { ClaimReference, OrderReference } from "../../references/references.ts";
import { statusOf } from "../rules/claims.ts";
import { addOrder, orderOf } from "../rules/orders.ts";
import type { Award, StoredClaim } from "../state/records.ts";
import type { World } from "../state/world.ts";

/** What the operator's support decides about a claim. */
export interface ClaimReview {
  /** Awarded to every item of the claim: `replacement` and `refund` make it resolved, `rejection` rejected. */
  readonly decision: Award;
  /** Default false. */
  readonly refundShippingCosts?: boolean;
  /** Default empty. */
  readonly comment?: string;
}

/** What happens to claims at the operator's. */
export interface ClaimControls {
  /**
   * Reviews a pending claim. A replacement makes a new order, which goes where the claimed one went: its reference is given
   * back, otherwise null.
   *
   * @example
   * const replacement = emulator.reviewClaim(claimReference, { decision: "replacement" });
   */
  reviewClaim(claim: ClaimReference, review: ClaimReview): OrderReference | null;
}

/** Orders what was claimed once more, to where its shipment went. */
function replace(world: World, claim: StoredClaim): OrderReference {
  const order = orderOf(world, claim.orderReference);
  const store = world.stores.find(({ reference }) => reference === order.storeReference);
  if (store === undefined) throw new Error(`The store of ${order.reference} is gone`);
  return addOrder(world, {
    store,
    shippingKind: order.shippingKind,
    customIdentifier: undefined,
    minimalLevel: order.minimalLevel,
    address: world.shipments.get(claim.shipmentReference)?.address ?? null,
    settles: claim.reference,
    lines: claim.lines.map(({ productReference, imageReference, quantity }) => ({
      productReference,
      imageReference,
      quantity,
      annotations: [],
    })),
  }).reference;
}

export const createClaimControls = (world: World): ClaimControls => ({
  reviewClaim: (reference, { decision, refundShippingCosts = false, comment = "" }) => {
    const claim = world.claims.get(reference);
    if (claim === undefined) throw new Error(`The emulator has no claim ${reference}`);
    if (statusOf(claim) !== "pending")
      throw new Error(`${reference} is ${statusOf(claim)}: only pending ones are reviewed`);
    claim.decision = { award: decision, decided: world.now(), refundShippingCosts, comment };
    claim.replacement = decision === "replacement" ? replace(world, claim) : null;
    return claim.replacement;
  },
});
