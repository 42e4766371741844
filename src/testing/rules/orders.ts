import type { OrderReference } from "../../references/references.ts";
import type { AddressInput } from "../../schemas/address.ts";
import type { StoredStore } from "../catalog/organization.ts";
import type { StoredAddress, StoredLine, StoredOrder } from "../state/records.ts";
import type { World } from "../state/world.ts";

/** Legacy order codes count from here: six digits, as the v1 ones. */
const firstOrderNumber = 100_001;

/** What an order is made of, once it is valid. */
export interface OrderDraft
  extends Pick<StoredOrder, "shippingKind" | "minimalLevel" | "customIdentifier" | "settles"> {
  readonly store: StoredStore;
  readonly address: StoredAddress | null;
  readonly lines: readonly Omit<StoredLine, "index" | "canceledQuantity" | "shippedQuantity">[];
}

/** Keeps an address under a reference of its own. */
export function addAddress(world: World, address: AddressInput): StoredAddress {
  const stored = { reference: world.make.next("Address"), address };
  world.addresses.set(stored.reference, stored);
  return stored;
}

/** Puts an order on the books. */
export function addOrder(world: World, { store, address, lines, ...draft }: OrderDraft): StoredOrder {
  return world.orders.add({
    ...draft,
    reference: world.make.next("Order"),
    storeReference: store.reference,
    legacyOrderCode: `${store.legacyCode}-${firstOrderNumber + world.orders.all().length}`,
    lines: lines.map((line, position) => ({ ...line, index: position + 1, canceledQuantity: 0, shippedQuantity: 0 })),
    dropshipAddressReference: address?.reference ?? null,
    onHold: null,
    inProduction: false,
  });
}

/** What is neither shipped nor canceled of a line. */
export const openQuantity = (line: StoredLine): number => line.quantity - line.canceledQuantity - line.shippedQuantity;

/** An order is open until every line has been shipped or canceled (specification 3.4). */
export const isOpen = (order: StoredOrder): boolean => order.lines.some((line) => openQuantity(line) > 0);

/** The status' values are not shown: these are assumed. */
export function statusOf(order: StoredOrder): { readonly code: string } {
  const shipped = order.lines.some((line) => line.shippedQuantity > 0);
  if (!isOpen(order)) return { code: shipped ? "shipped" : "canceled" };
  if (shipped) return { code: "partially_shipped" };
  return { code: order.inProduction ? "in_production" : "received" };
}

/** The first order that has an identifier. */
export const orderByIdentifier = (world: World, identifier: string | undefined): StoredOrder | undefined =>
  identifier === undefined
    ? undefined
    : world.orders.all().find(({ customIdentifier }) => customIdentifier === identifier);

/** An address lives as long as its order has it, or a shipment was made with it (specification 4.4). */
export function replaceAddress(world: World, order: StoredOrder, address: AddressInput): void {
  const old = order.dropshipAddressReference;
  order.dropshipAddressReference = addAddress(world, address).reference;
  const isShipped = [...world.shipments.values()].some((shipment) => shipment.address?.reference === old);
  const isElsewhere = world.orders.all().some((other) => other.dropshipAddressReference === old);
  if (old !== null && !isShipped && !isElsewhere) world.addresses.delete(old);
}

/** The order of a reference that must exist: for the handles of tests. */
export function orderOf(world: World, reference: OrderReference): StoredOrder {
  const order = world.orders.get(reference);
  if (order === undefined) throw new Error(`The emulator has no order ${reference}`);
  return order;
}
