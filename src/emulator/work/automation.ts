import * as z from "zod/mini";
import { count } from "../../schemas/shape.ts";
import type { WorldClock } from "../clock/emulator-clock.ts";
import { type Duration, span, spanOf } from "../clock/point-in-time.ts";
import type { Agenda } from "./agenda.ts";
import { type Award, awards, type StoredClaim, type StoredOrder, type Task } from "./records.ts";

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

/** Puts what the operator does by itself into the agenda. */
export class Automation {
  readonly #clock: WorldClock;
  readonly #agenda: Agenda<Task>;
  options: AutomationOptions;

  constructor(clock: WorldClock, agenda: Agenda<Task>, options: AutomationOptions) {
    this.#clock = clock;
    this.#agenda = agenda;
    this.options = options;
  }

  /** Plans the next step of an order: its production, or the shipment of a part. */
  planOrder({ reference: order, inProduction }: StoredOrder, part = 1): void {
    const { production, shipping } = this.options;
    if (production !== undefined && !inProduction) this.#plan(production, { kind: "startProduction", order });
    else if (shipping !== undefined) this.#plan(shipping, { kind: "ship", order, part });
  }

  /** Plans the review of a claim. */
  planReview({ reference: claim }: StoredClaim): void {
    const { review } = this.options;
    if (review !== undefined) this.#plan(review.after, { kind: "reviewClaim", claim });
  }

  /** Removes the planned step of an order. */
  forgetOrder({ reference }: StoredOrder): void {
    this.#agenda.remove((task) => "order" in task && task.order === reference);
  }

  /** Removes all planned steps and reviews. */
  forgetAll(): void {
    this.#agenda.remove(({ kind }) => kind === "startProduction" || kind === "ship" || kind === "reviewClaim");
  }

  #plan(after: number | Duration, task: Task): void {
    this.#agenda.add(this.#clock.now() + spanOf(after), task);
  }
}
