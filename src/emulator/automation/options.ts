import * as z from "zod/mini";
import { count } from "../../schemas/shape.ts";
import type { Duration } from "../clock/point-in-time.ts";
import { span } from "../clock/span.schema.ts";
import { type Award, awards } from "../records/records.ts";

/** The review that every claim gets. */
export interface AutomaticReview {
  /** The time from the claim to its review: milliseconds, or an object such as `{ days: 2 }`. */
  readonly after: number | Duration;
  /** Applies to every item. */
  readonly decision: Award;
  /** Default false. */
  readonly refundShippingCosts?: boolean | undefined;
  /** Default empty. */
  readonly comment?: string | undefined;
}

/**
 * What the operator does by itself, at times of the emulator's clock. A step that is missing happens only by a control. It also happens
 * in the environment `test`, where the service never produces or ships (specification 1).
 */
export interface AutomationOptions {
  /** The time from the creation of an order to its production: milliseconds, or an object such as `{ hours: 4 }`. */
  readonly production?: number | Duration | undefined;
  /** The time from the start of production to the shipment. Without `production`: from the creation of the order. */
  readonly shipping?: number | Duration | undefined;
  /** The number of shipments of an order. Each one after the first ships `shipping` after the one before. Default 1. */
  readonly parts?: number | undefined;
  /** The review of claims. */
  readonly review?: AutomaticReview | undefined;
}

/** The fields of the schema of {@link AutomationOptions}. */
export const automationFields = () => ({
  production: z.optional(span()),
  shipping: z.optional(span()),
  parts: z.optional(count(1)),
  review: z.optional(
    z.strictObject({
      after: span(),
      decision: z.enum(awards),
      refundShippingCosts: z.optional(z.boolean()),
      comment: z.optional(z.string()),
    }),
  ),
});
