import { ControlError } from "../core/control-error.ts";
import type { Emulation } from "../emulation/emulation.ts";
import type { Task } from "../records/task.ts";
import { statusOf } from "../rules/claims.ts";
import { claimControls } from "./claims.ts";
import { find } from "./find.ts";
import { takeStep } from "./order-steps.ts";

function review(emulation: Emulation, claim: Extract<Task, { kind: "reviewClaim" }>["claim"]): void {
  const { review } = emulation.automation.options;
  const { record } = find(emulation, "claims", claim);
  if (review === undefined || statusOf(record) !== "pending") return;
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
