import type { ClaimReference, OrderReference } from "../../references/references.ts";
import { statusOf } from "../rules/claims.ts";
import { addOrder, orderOf } from "../rules/orders.ts";
import type { Award, StoredClaim } from "../state/records.ts";
import type { World } from "../state/world.ts";

/** The decision of the operator's support about a claim. */
export interface ClaimReview {
  /** Applies to every item of the claim. `replacement` and `refund` make the claim `resolved`, `rejection` makes it `rejected`. */
  readonly decision: Award;
  /** Default false. */
  readonly refundShippingCosts?: boolean;
  /** Default empty. */
  readonly comment?: string;
}

/** Controls that decide claims. */
export interface ClaimControls {
  /**
   * Reviews a pending claim. A `replacement` creates a new order to the address of the claimed shipment, and returns the order's
   * reference. The other decisions return null.
   *
   * @example
   * const replacement = emulator.reviewClaim(claimReference, { decision: "replacement" });
   */
  reviewClaim(claim: ClaimReference, review: ClaimReview): OrderReference | null;
}

/** Creates an order of the claimed items, to the address of the claimed shipment. */
function replace(world: World, claim: StoredClaim): OrderReference {
  const order = orderOf(world, claim.orderReference);
  const store = world.stores.find(({ reference }) => reference === order.storeReference);
  if (store === undefined) throw new Error(`The emulator has no store ${order.storeReference}`);
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
      throw new Error(`Only a pending claim can be reviewed; ${reference} is ${statusOf(claim)}`);
    claim.decision = { award: decision, decided: world.now(), refundShippingCosts, comment };
    claim.replacement = decision === "replacement" ? replace(world, claim) : null;
    return claim.replacement;
  },
});
