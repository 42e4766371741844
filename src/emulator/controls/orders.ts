import * as z from "zod/mini";
import type { OrderReference, ShipmentReference } from "../../references/references.ts";
import { count, filledText, reference } from "../../schemas/shape.ts";
import { ControlError } from "../base/control-error.ts";
import { isOpen, openQuantity, waitReason } from "../rules/orders.ts";
import { refuseWaiting, ship } from "../rules/ship.ts";
import type { Emulation } from "../state/emulation.ts";
import type { World } from "../state/world.ts";
import type { OrderTask, StoredOrder } from "../work/records.ts";
import { control, find } from "./control.ts";

/** The lines of an order to ship, with the quantity of each. */
export interface ShipOptions {
  /** Default: everything that is neither shipped nor canceled. */
  readonly lines?: readonly { readonly index: number; readonly quantity: number }[] | undefined;
}

/** Controls that produce, hold and ship orders. */
export interface OrderControls {
  /**
   * Ships an order, or several combined orders together, and returns the shipment's reference.
   *
   * The emulator also ships in the environment `test`, so that a test can see a shipment. The service never does there (specification 1).
   * Orders ship together when their stores belong to the same account: these are assumed to have the same combined address.
   *
   * With `lines`, ships a part of an order. A later call ships the rest. A store with a callback URL gets a callback for each order, in
   * the background.
   *
   * @throws {@link ControlError} when an order is on hold, waits for the launch of a product, has nothing left to ship, or cannot be
   * shipped with the others.
   *
   * @example
   * const shipment = emulator.ship(orderReference, { lines: [{ index: 1, quantity: 2 }] });
   */
  ship(orders: OrderReference | readonly OrderReference[], options?: ShipOptions): ShipmentReference;
  /**
   * Starts the production of an order. It can no longer be canceled.
   *
   * The emulator also produces in the environment `test`. The service never does there (specification 1).
   *
   * @throws {@link ControlError} when the order is on hold, or waits for the launch of a product.
   */
  startProduction(order: OrderReference): void;
  /** Puts the production of an order on hold. `onHold` carries the reason. */
  hold(order: OrderReference, reason: string): void;
  /** Ends the hold of an order. A step of the automation that became due during the hold happens now. */
  release(order: OrderReference): void;
}

/** Starts the production of an order, and plans what comes next. */
function begin(world: World, order: StoredOrder): void {
  order.inProduction = true;
  world.automation.planOrder(order);
}

export const orderControls = {
  ship: control({
    about: "Ships an order in full or in part, or several combined orders together.",
    on: "order",
    required: ["orders"],
    fields: () => ({
      orders: z.union(
        [reference("Order"), z.array(reference("Order"))],
        "expected the reference of an order, or a list of them",
      ),
      lines: z.optional(z.array(z.strictObject({ index: count(1), quantity: count(0) }))),
    }),
    run: (emulation, { orders: references, lines }) => {
      const [first, ...others] = [references].flat().map((order) => find(emulation, "orders", order));
      if (first === undefined) throw new ControlError("Give at least one order to ship");
      if (others.some(({ world }) => world !== first.world)) {
        throw new ControlError("Orders of different organizations cannot ship together");
      }
      const shipped = [first.record, ...others.map(({ record }) => record)] as const;
      const shipment = ship(first.world, shipped, lines);
      for (const order of shipped) emulation.callbacks.orderUpdated(order);
      return shipment;
    },
  }),
  startProduction: control({
    about: "Starts the production of an order. It can no longer be canceled.",
    on: "order",
    required: ["order"],
    fields: () => ({ order: reference("Order") }),
    run: (emulation, { order }) => {
      const { world, record } = find(emulation, "orders", order);
      if (record.inProduction) return;
      refuseWaiting(world, record);
      world.automation.forgetOrder(record);
      begin(world, record);
    },
  }),
};

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

export const holdControls = {
  hold: control({
    about: "Puts the production of an order on hold.",
    on: "order",
    required: ["order", "reason"],
    fields: () => ({ order: reference("Order"), reason: filledText() }),
    run: (emulation, { order, reason }) => {
      find(emulation, "orders", order).record.onHold = { reason };
    },
  }),
  release: control({
    about: "Ends the hold of an order. A step that became due during the hold happens now.",
    on: "order",
    required: ["order"],
    fields: () => ({ order: reference("Order") }),
    run: (emulation, { order: reference }) => {
      const { record: order } = find(emulation, "orders", reference);
      order.onHold = null;
      goOn(emulation, order);
    },
  }),
};
