import type { OrderReference, ShipmentReference, StoreReference } from "../../references/references.ts";
import { openQuantity, orderOf } from "../rules/orders.ts";
import { shippingOptions } from "../rules/shipping.ts";
import type { Parcel, StoredOrder, StoredShipment } from "../state/records.ts";
import type { World } from "../state/world.ts";

/** Which lines of an order to ship, and how many of each. */
export interface ShipOptions {
  /** Default: all that is neither shipped nor canceled. */
  readonly lines?: readonly { readonly index: number; readonly quantity: number }[];
}

/** What happens to orders at the operator's. */
export interface OrderControls {
  /**
   * Ships an order, or combined orders together, and gives the shipment's reference.
   *
   * A part of a dropship order's lines may be shipped: what is left goes with a later shipment.
   *
   * @example
   * const shipment = emulator.ship(orderReference, { lines: [{ index: 1, quantity: 2 }] });
   */
  ship(orders: OrderReference | readonly OrderReference[], options?: ShipOptions): ShipmentReference;
  /** Takes an order into production: from now on it cannot be canceled. */
  startProduction(order: OrderReference): void;
  /** Puts production of an order on hold: `onHold` carries the reason. */
  hold(order: OrderReference, reason: string): void;
  /** Ends a hold. */
  release(order: OrderReference): void;
  /** Hands a store to a platform, or back to `api`, as the partner dashboard does. */
  setStoreIntegration(store: StoreReference, integration: string): void;
}

function parcelOf(order: StoredOrder, wanted: ShipOptions["lines"]): Parcel {
  if (order.onHold !== null) throw new Error(`${order.reference} is on hold: ${order.onHold.reason}`);
  const lines = wanted ?? order.lines.map((line) => ({ index: line.index, quantity: openQuantity(line) }));
  const shipped = lines.filter(({ quantity }) => quantity > 0);
  if (shipped.length === 0) throw new Error(`Nothing of ${order.reference} is left to ship`);
  for (const { index, quantity } of shipped) {
    const line = order.lines.find((candidate) => candidate.index === index);
    const open = line === undefined ? 0 : openQuantity(line);
    if (quantity > open) throw new Error(`Of line ${index} of ${order.reference} only ${open} are left to ship`);
  }
  return { orderReference: order.reference, lines: shipped };
}

function markShipped(order: StoredOrder, parcel: Parcel): void {
  for (const { index, quantity } of parcel.lines) {
    const line = order.lines.find((candidate) => candidate.index === index);
    if (line !== undefined) line.shippedQuantity += quantity;
  }
}

/** A combined shipment goes to the partner's business address: it has no shipping options, and is always tracked. */
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
    if (first === undefined) throw new Error("Name at least one order to ship");
    if (
      orders.length > 1 &&
      (options?.lines !== undefined || orders.some((order) => order.shippingKind === "dropship"))
    ) {
      throw new Error("Only combined orders ship together, and only as a whole");
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
