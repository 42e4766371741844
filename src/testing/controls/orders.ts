import * as z from "zod/mini";
import type { OrderReference, ShipmentReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { count } from "../../schemas/shape.ts";
import { ControlError } from "../core/control-error.ts";
import type { Parcel, StoredOrder, StoredShipment } from "../records/records.ts";
import { openQuantity, waitReason } from "../rules/orders.ts";
import { shippingOptions } from "../rules/shipping.ts";
import type { World } from "../state/world.ts";
import { control } from "./control.ts";
import { find } from "./find.ts";

/** The lines of an order to ship, with the quantity of each. */
export interface ShipOptions {
  /** Default: everything that is neither shipped nor canceled. */
  readonly lines?: readonly { readonly index: number; readonly quantity: number }[];
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

/** Refuses the production and the shipment of an order that waits. */
function refuseWaiting(world: World, order: StoredOrder): void {
  const reason = waitReason(world, order);
  if (reason !== undefined) throw new ControlError(`${order.reference} ${reason}`);
}

function parcelOf(world: World, order: StoredOrder, wanted: ShipOptions["lines"]): Parcel {
  refuseWaiting(world, order);
  const lines = wanted ?? order.lines.map((line) => ({ index: line.index, quantity: openQuantity(line) }));
  const shipped = lines.filter(({ quantity }) => quantity > 0);
  if (new Set(lines.map(({ index }) => index)).size < lines.length) {
    throw new ControlError("`lines` names a line more than once");
  }
  if (shipped.length === 0) throw new ControlError(`${order.reference} has nothing left to ship`);
  for (const { index, quantity } of shipped) {
    const line = order.lines.find((candidate) => candidate.index === index);
    const open = line === undefined ? 0 : openQuantity(line);
    if (quantity > open)
      throw new ControlError(`Line ${index} of ${order.reference} has ${open} left to ship; got ${quantity}`);
  }
  return { orderReference: order.reference, lines: shipped };
}

function markShipped(order: StoredOrder, parcel: Parcel): void {
  for (const { index, quantity } of parcel.lines) {
    const line = order.lines.find((candidate) => candidate.index === index);
    if (line !== undefined) line.shippedQuantity += quantity;
  }
}

/** A combined shipment goes to the partner's business address. The specification shows no level of it: it is assumed to be tracked. */
function destinationOf(
  world: World,
  order: StoredOrder,
  parcel: Parcel,
): Pick<StoredShipment, "addressReference" | "level"> {
  const address = world.addresses.get(order.dropshipAddressReference);
  if (address === undefined) return { addressReference: null, level: "tracked" };
  const goods = order.lines.filter(({ index }) => parcel.lines.some((line) => line.index === index));
  const [lowest] = shippingOptions(world, goods, address.address, order.minimalLevel);
  return { addressReference: address.reference, level: lowest?.level ?? order.minimalLevel };
}

/**
 * Refuses orders that go to different addresses. Combined orders ship together to the combined address of their store (specification 1),
 * which no response shows. The stores of an account are assumed to have the same one: that of the account's business.
 */
function refuseOtherAddress(world: World, orders: readonly [StoredOrder, ...StoredOrder[]]): void {
  const [first, ...others] = orders.map(({ storeReference }) => world.stores.get(storeReference));
  const other = others.find((store) => store?.account !== first?.account);
  if (other === undefined) return;
  throw new ControlError(
    `Only orders to the same combined address ship together: the stores ${first?.name} and ${other.name} belong to different accounts`,
  );
}

/** Ships what is given of the orders of one world, as one shipment. */
export function ship(
  world: World,
  orders: readonly [StoredOrder, ...StoredOrder[]],
  lines: ShipOptions["lines"],
): ShipmentReference {
  const [first] = orders;
  if (orders.length > 1 && (lines !== undefined || orders.some((order) => order.shippingKind === "dropship"))) {
    throw new ControlError("Only combined orders can ship together, and only without `lines`");
  }
  refuseOtherAddress(world, orders);
  if (new Set(orders).size < orders.length) throw new ControlError("An order is named more than once");
  const shipped = orders.map((order) => ({ order, parcel: parcelOf(world, order, lines) }));
  const shipment: StoredShipment = {
    reference: world.make.next("Shipment"),
    parcels: shipped.map(({ parcel }) => parcel),
    ...destinationOf(world, first, parcelOf(world, first, lines)),
    shipped: world.now(),
  };
  for (const { order, parcel } of shipped) markShipped(order, parcel);
  const address = world.addresses.get(shipment.addressReference);
  if (address !== undefined) address.uses += 1;
  return world.shipments.add(shipment).reference;
}

/** Starts the production of an order, and plans what comes next. */
export function begin(world: World, order: StoredOrder): void {
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
