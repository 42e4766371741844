import { ControlError } from "../base/control-error.ts";
import { claimStatus } from "../rules/claims.ts";
import { isOpen } from "../rules/orders.ts";
import type { Emulation } from "../state/emulation.ts";
import { type AutomationOptions, automationFields } from "../work/automation.ts";
import type { Task } from "../work/records.ts";
import { claimControls } from "./claims.ts";
import { control, find } from "./control.ts";
import { takeStep } from "./orders.ts";

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
    fields: automationFields,
    run: ({ automation, worlds }, options) => {
      automation.options = options;
      automation.forgetAll();
      for (const { orders, claims } of worlds) {
        for (const order of orders.all().filter(isOpen)) {
          order.postponed = null;
          automation.planOrder(order);
        }
        for (const claim of claims.all()) if (claimStatus(claim) === "pending") automation.planReview(claim);
      }
    },
  }),
};

function review(emulation: Emulation, claim: Extract<Task, { kind: "reviewClaim" }>["claim"]): void {
  const { review } = emulation.automation.options;
  const { record } = find(emulation, "claims", claim);
  if (review === undefined || claimStatus(record) !== "pending") return;
  const { decision, refundShippingCosts, comment } = review;
  claimControls.reviewClaim.run(emulation, { claim, decision, refundShippingCosts, comment });
}

/** A render needs no work: its state follows from the time. The task only makes the change known. */
function run(emulation: Emulation, task: Task): void {
  if (task.kind === "callback") emulation.callbacks.carryOut(task.id);
  else if (task.kind === "reviewClaim") review(emulation, task.claim);
  else if (task.kind !== "finishRender") takeStep(emulation, task);
}

/** Carries out a task that is due. A task that the state no longer allows has no effect. */
export function carryOut(emulation: Emulation, task: Task): void {
  try {
    run(emulation, task);
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
  }
  emulation.changed();
}
