import type { Emulation } from "../emulation/emulation.ts";
import type { StoredOrder } from "../records/records.ts";
import type { OrderTask } from "../records/task.ts";
import { isOpen, openQuantity, waitReason } from "../rules/orders.ts";
import type { World } from "../state/world.ts";
import { find } from "./find.ts";
import { begin, orderControls } from "./orders.ts";

/** The lines of a part: its share of the open units, from the first line on. */
function linesOf(order: StoredOrder, partsLeft: number) {
  const open = order.lines.reduce((sum, line) => sum + openQuantity(line), 0);
  let units = Math.ceil(open / partsLeft);
  return order.lines.map((line) => {
    const quantity = Math.min(units, openQuantity(line));
    units -= quantity;
    return { index: line.index, quantity };
  });
}

function shipPart(emulation: Emulation, world: World, order: StoredOrder, part: number): void {
  const { parts = 1 } = world.automation.options;
  const lines = linesOf(order, Math.max(1, parts - part + 1));
  orderControls.ship.run(emulation, { orders: order.reference, lines });
  if (isOpen(order)) world.automation.planOrder(order, part + 1);
}

/** Takes an order's next step. An order that waits takes it when it goes on. A completed order takes none. */
export function takeStep(emulation: Emulation, step: OrderTask): void {
  const { world, record: order } = find(emulation, "orders", step.order);
  if (!isOpen(order)) return;
  if (waitReason(world, order) !== undefined) order.postponed = step;
  else if (step.kind === "startProduction") begin(world, order);
  else shipPart(emulation, world, order, step.part);
}

/** Takes the step that became due while an order waited, unless it still waits. */
export function goOn(emulation: Emulation, order: StoredOrder): void {
  const { postponed } = order;
  order.postponed = null;
  if (postponed !== null) takeStep(emulation, postponed);
}
