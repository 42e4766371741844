import type { OrderReference, ShipmentReference, StoreReference } from "../../references/references.ts";
import { openQuantity, orderOf } from "../rules/orders.ts";
import { shippingOptions } from "../rules/shipping.ts";
import type { Parcel, StoredOrder, StoredShipment } from "../state/records.ts";
import type { World } from "../state/world.ts";

/** The lines of an order to ship, with the quantity of each. */
export interface ShipOptions {
  /** Default: everything that is neither shipped nor canceled. */
  readonly lines?: readonly { readonly index: number; readonly quantity: number }[];
}

/** Controls that ship, hold and produce orders. */
export interface OrderControls {
  /**
   * Ships an order, or several combined orders together, and returns the shipment's reference.
   *
   * With `lines`, ships a part of an order. A later call ships the rest.
   *
   * @throws Error when an order is on hold, has nothing left to ship, or cannot be shipped with the others.
   *
   * @example
   * const shipment = emulator.ship(orderReference, { lines: [{ index: 1, quantity: 2 }] });
   */
  ship(orders: OrderReference | readonly OrderReference[], options?: ShipOptions): ShipmentReference;
  /** Starts the production of an order. It can no longer be canceled. */
  startProduction(order: OrderReference): void;
  /** Puts the production of an order on hold. `onHold` carries the reason. */
  hold(order: OrderReference, reason: string): void;
  /** Ends the hold of an order. */
  release(order: OrderReference): void;
  /** Sets a store's integration, as the partner dashboard does. The API accepts orders only when it is `api`. */
  setStoreIntegration(store: StoreReference, integration: string): void;
}

function parcelOf(order: StoredOrder, wanted: ShipOptions["lines"]): Parcel {
  if (order.onHold !== null) throw new Error(`${order.reference} is on hold: ${order.onHold.reason}`);
  const lines = wanted ?? order.lines.map((line) => ({ index: line.index, quantity: openQuantity(line) }));
  const shipped = lines.filter(({ quantity }) => quantity > 0);
  if (shipped.length === 0) throw new Error(`${order.reference} has nothing left to ship`);
  for (const { index, quantity } of shipped) {
    const line = order.lines.find((candidate) => candidate.index === index);
    const open = line === undefined ? 0 : openQuantity(line);
    if (quantity > open)
      throw new Error(`Line ${index} of ${order.reference} has ${open} left to ship; got ${quantity}`);
  }
  return { orderReference: order.reference, lines: shipped };
}

function markShipped(order: StoredOrder, parcel: Parcel): void {
  for (const { index, quantity } of parcel.lines) {
    const line = order.lines.find((candidate) => candidate.index === index);
    if (line !== undefined) line.shippedQuantity += quantity;
  }
}

/** A combined shipment goes to the partner's business address. It has no shipping options and is always tracked. */
function destinationOf(world: World, order: StoredOrder, parcel: Parcel): Pick<StoredShipment, "address" | "level"> {
  const address = world.addresses.get(order.dropshipAddressReference ?? "");
  if (address === undefined) return { address: null, level: "tracked" };
  const goods = order.lines.filter(({ index }) => parcel.lines.some((line) => line.index === index));
  const [lowest] = shippingOptions(world, goods, address.address, order.minimalLevel);
  return { address, level: lowest?.level ?? order.minimalLevel };
}

export const createOrderControls = (world: World): OrderControls => ({
  ship: (references, options) => {
    const orders = [references].flat().map((reference) => orderOf(world, reference));
    const [first] = orders;
    if (first === undefined) throw new Error("Give at least one order to ship");
    if (
      orders.length > 1 &&
      (options?.lines !== undefined || orders.some((order) => order.shippingKind === "dropship"))
    ) {
      throw new Error("Only combined orders can ship together, and only without `lines`");
    }
    const shipped = orders.map((order) => ({ order, parcel: parcelOf(order, options?.lines) }));
    const parcels = shipped.map(({ parcel }) => parcel);
    const shipment: StoredShipment = {
      reference: world.make.next("Shipment"),
      parcels,
      ...destinationOf(world, first, parcelOf(first, options?.lines)),
      shipped: world.now(),
    };
    for (const { order, parcel } of shipped) markShipped(order, parcel);
    if (shipment.address !== null) shipment.address.uses += 1;
    world.shipments.set(shipment.reference, shipment);
    return shipment.reference;
  },
  startProduction: (reference) => {
    orderOf(world, reference).inProduction = true;
  },
  hold: (reference, reason) => {
    orderOf(world, reference).onHold = { reason };
  },
  release: (reference) => {
    orderOf(world, reference).onHold = null;
  },
  setStoreIntegration: (reference, integration) => {
    const store = world.stores.find((candidate) => candidate.reference === reference);
    if (store === undefined) throw new Error(`The emulator has no store ${reference}`);
    store.integration = integration;
  },
});
