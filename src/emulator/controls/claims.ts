import * as z from "zod/mini";
import type { ClaimReference, OrderReference } from "../../references/references.ts";
import { count, reference } from "../../schemas/shape.ts";
import { ControlError } from "../base/control-error.ts";
import { type ClaimlineReview, decideAll, decideLines, refuseReviewed, review } from "../rules/claims.ts";
import { type Award, awards } from "../work/records.ts";
import { control, find } from "./control.ts";

/** What each review of a claim can say. */
export interface CommonReview {
  /** Default false. */
  readonly refundShippingCosts?: boolean;
  /** Default empty. */
  readonly comment?: string;
}

/**
 * The decision of the operator's support about a claim: one for every item, or one for each line. A claim with at least one replaced or
 * refunded item becomes `resolved`, another one `rejected` (specification 3.1).
 */
export type ClaimReview =
  | (CommonReview & { readonly decision: Award; readonly lines?: never })
  | (CommonReview & { readonly decision?: never; readonly lines: readonly ClaimlineReview[] });

/** Controls that decide claims. */
export interface ClaimControls {
  /**
   * Reviews a pending claim. Replaced items become a new order to the address of the claimed shipment, whose reference is returned;
   * without them the result is null.
   *
   * @throws {@link ControlError} when the claim is not pending, or the quantities of a line do not add up.
   * @example
   * emulator.reviewClaim(claimReference, { decision: "refund" });
   * @example
   * const lines = [{ orderlineIndex: 1, replacement: 2, rejection: 1, comment: "One of them is fine" }];
   * const replacement = emulator.reviewClaim(claimReference, { lines });
   */
  reviewClaim(claim: ClaimReference, review: ClaimReview): OrderReference | null;
}

const lineReviews = () =>
  z.array(
    z.strictObject({
      orderlineIndex: count(1),
      orderReference: z.optional(reference("Order")),
      replacement: z.optional(count(0)),
      refund: z.optional(count(0)),
      rejection: z.optional(count(0)),
      comment: z.optional(z.string()),
    }),
  ) as z.ZodMiniType<readonly ClaimlineReview[]>;

export const claimControls = {
  reviewClaim: control({
    about: "Decides a pending claim as the operator's support does, whole (decision) or line by line (lines).",
    on: "claim",
    required: ["claim"],
    fields: () => ({
      claim: reference("Claim"),
      decision: z.optional(z.enum(awards)),
      lines: z.optional(lineReviews()),
      refundShippingCosts: z._default(z.boolean(), false),
      comment: z._default(z.string(), ""),
    }),
    run: (emulation, { claim: reference, decision, lines: reviews, refundShippingCosts, comment }) => {
      const { world, record: claim } = find(emulation, "claims", reference);
      refuseReviewed(claim);
      if ((decision === undefined) === (reviews === undefined)) {
        throw new ControlError("Give either `decision`, for every item, or `lines`");
      }
      const lines =
        reviews === undefined ? decideAll(claim, decision ?? "rejection", comment) : decideLines(claim, reviews);
      return review(world, claim, lines, { refundShippingCosts, comment });
    },
  }),
};
