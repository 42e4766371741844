import type { AutomationOptions } from "../automation/options.ts";
import { automationFields } from "../automation/options.ts";
import { statusOf } from "../rules/claims.ts";
import { isOpen } from "../rules/orders.ts";
import { control } from "./control.ts";

/** Controls of what the operator does by itself. */
export interface AutomationControls {
  /**
   * Sets what the operator does by itself from now on. Without options, orders and claims move only by controls. The steps of open
   * orders and the reviews of pending claims are planned again, from now on.
   *
   * @example
   * emulator.automate({ production: { hours: 4 }, shipping: { days: 1 }, review: { after: { days: 2 }, decision: "refund" } });
   * await emulator.clock.advance({ days: 2 });
   */
  automate(options?: AutomationOptions): void;
}

export const automationControls = {
  automate: control({
    about: "Sets what the operator does by itself: production, shipping in parts, and reviews of claims.",
    on: "world",
    required: [],
    fields: automationFields,
    run: ({ automation, worlds }, options) => {
      automation.options = options;
      automation.forgetAll();
      for (const { orders, claims } of worlds) {
        for (const order of orders.all().filter(isOpen)) {
          order.postponed = null;
          automation.planOrder(order);
        }
        for (const claim of claims.all()) if (statusOf(claim) === "pending") automation.planReview(claim);
      }
    },
  }),
};
