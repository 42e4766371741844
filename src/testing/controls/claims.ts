import * as z from "zod/mini";
import type { ClaimReference, OrderReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { statusOf } from "../rules/claims.ts";
import { addOrder } from "../rules/orders.ts";
import type { Award, StoredClaim } from "../state/records.ts";
import type { World } from "../state/world.ts";
import { control } from "./control.ts";
import { ControlError } from "./control-error.ts";
import { find } from "./find.ts";

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
    lines: claim.lines.map(({ productReference, imageReference, quantity }) => ({
      productReference,
      imageReference,
      quantity,
      annotations: [],
    })),
  }).reference;
}

export const claimControls = {
  reviewClaim: control({
    about: "Decides a pending claim as the operator's support does.",
    on: "claim",
    required: ["claim"],
    fields: () => ({
      claim: reference("Claim"),
      decision: z.enum(["replacement", "refund", "rejection"]),
      refundShippingCosts: z._default(z.boolean(), false),
      comment: z._default(z.string(), ""),
    }),
    run: (emulation, { claim: reference, decision, refundShippingCosts, comment }) => {
      const { world, record: claim } = find(emulation, "claims", reference);
      if (statusOf(claim) !== "pending")
        throw new ControlError(`Only a pending claim can be reviewed; ${reference} is ${statusOf(claim)}`);
      claim.decision = { award: decision, decided: world.now(), refundShippingCosts, comment };
      claim.replacement = decision === "replacement" ? replace(world, claim) : null;
      return claim.replacement;
    },
  }),
};
