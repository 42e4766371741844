import type { ShipmentReference } from "../../references/references.ts";
import type { Shipment } from "../../resources/shipments/shipments.ts";
import { ControlError } from "../base/control-error.ts";
import type { World } from "../state/world.ts";
import type { Parcel, StoredOrder, StoredShipment } from "../work/records.ts";
import { openQuantity, waitReason } from "./orders.ts";
import { shippingOptions } from "./shipping.ts";

type Tracking = Partial<Pick<Shipment, "carrier" | "trackingNumber" | "trackingUrl">>;

/** The lines to ship; undefined for everything that is open. */
type WantedLines = Parcel["lines"] | undefined;

/** Refuses the production and the shipment of an order that waits. */
export function refuseWaiting(world: World, order: StoredOrder): void {
  const reason = waitReason(world, order);
  if (reason !== undefined) throw new ControlError(`${order.reference} ${reason}`);
}

function parcelOf(world: World, order: StoredOrder, wanted: WantedLines): Parcel {
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
  lines: WantedLines,
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

/**
 * The tracking fields. Tracked and express shipments have them from the start, basic shipments never (specification 1). The level of a
 * combined shipment is not shown, so the specification does not promise them.
 */
export function trackingOf({ settings }: World, { reference, level, addressReference }: StoredShipment): Tracking {
  if (level === "basic" || (addressReference === null && settings.shapes === "minimal")) return {};
  // Its first characters tell a reference from the others of its kind.
  const trackingNumber = `EMU${reference.slice("Shipment_".length, 21).toUpperCase()}`;
  return {
    carrier: level === "express" ? "Emulated Express" : "Emulated Post",
    trackingNumber,
    trackingUrl: `https://track.example/${trackingNumber}`,
  };
}
