import type { Emulation } from "../emulation.ts";
import { isOpen } from "../rules/orders.ts";
import type { Task } from "../state/task.ts";
import { find } from "./find.ts";
import { orderControls } from "./orders.ts";

/** Carries out a task that is due. A task that the state of its order no longer allows has no effect. */
export function carryOut(emulation: Emulation, task: Task): void {
  if (task.kind === "callback") emulation.callbacks.carryOut(task.id);
  else moveOrder(emulation, task);
}

function moveOrder(emulation: Emulation, { kind, order }: Extract<Task, { readonly order: unknown }>): void {
  const { record } = find(emulation, "orders", order);
  if (!isOpen(record) || record.onHold !== null) return;
  if (kind === "startProduction") orderControls.startProduction.run(emulation, { order });
  else orderControls.ship.run(emulation, { orders: order });
}
