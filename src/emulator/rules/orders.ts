import type { Address, AddressInput } from "../../schemas/address.ts";
import { withOverrides } from "../../util/overrides.ts";
import type { StoredStore } from "../catalog/organization.ts";
import type { Stage } from "../catalog/product-table.ts";
import type { StoredAddress, StoredLine, StoredOrder } from "../records/records.ts";
import type { World } from "../state/world.ts";

/** The number of the first legacy order code. v1 codes have six digits. */
const firstOrderNumber = 100_001;

/** The fields of a new, valid order. */
export interface OrderDraft
  extends Pick<StoredOrder, "shippingKind" | "minimalLevel" | "customIdentifier" | "settles" | "viaStoreCode"> {
  readonly store: StoredStore;
  readonly address: StoredAddress | null;
  readonly lines: readonly Omit<StoredLine, "index" | "canceledQuantity" | "shippedQuantity">[];
}

/** Adds an address under a new reference. */
export function addAddress(world: World, address: AddressInput): StoredAddress {
  return world.addresses.add({
    reference: world.make.next("Address"),
    address: withOverrides<Address>({}, address),
    uses: 0,
  });
}

/** Adds an order. */
export function addOrder(world: World, { store, address, lines, ...draft }: OrderDraft): StoredOrder {
  const order: StoredOrder = {
    ...draft,
    reference: world.make.next("Order"),
    created: world.now(),
    storeReference: store.reference,
    legacyOrderCode: `${store.legacyCode}-${firstOrderNumber + world.orders.size}`,
    lines: lines.map((line, position) => ({ ...line, index: position + 1, canceledQuantity: 0, shippedQuantity: 0 })),
    dropshipAddressReference: address?.reference ?? null,
    onHold: null,
    inProduction: false,
    postponed: null,
  };
  if (address !== null) address.uses += 1;
  world.automation.planOrder(order);
  return world.orders.add(order);
}

/** The quantity of a line that is neither shipped nor canceled. */
export const openQuantity = (line: StoredLine): number => line.quantity - line.canceledQuantity - line.shippedQuantity;

/** An order is open until every line has been shipped or canceled (specification 3.4). */
export const isOpen = (order: StoredOrder): boolean => order.lines.some((line) => openQuantity(line) > 0);

const unlaunched: ReadonlySet<Stage> = new Set<Stage>(["announced", "prelaunched"]);

/**
 * Why an order cannot be produced or shipped now: it is on hold, or a pre-order, which queues until the launch of its products
 * (specification 3.3). Undefined when it can. A pre-order waits as a whole, until all products of its open lines are launched.
 */
export function waitReason(world: World, order: StoredOrder): string | undefined {
  if (order.onHold !== null) return `is on hold: ${order.onHold.reason}`;
  const products = order.lines
    .filter((line) => openQuantity(line) > 0)
    .map((line) => world.products.get(line.productReference));
  const awaited = products.find((product) => product !== undefined && unlaunched.has(product.status));
  return awaited && `is a pre-order and waits for the launch of ${awaited.name}`;
}

/** The status of an order. The specification does not show the values; these are assumed. */
export function statusOf(order: StoredOrder): { readonly code: string } {
  const shipped = order.lines.some((line) => line.shippedQuantity > 0);
  if (!isOpen(order)) return { code: shipped ? "shipped" : "canceled" };
  if (shipped) return { code: "partially_shipped" };
  return { code: order.inProduction ? "in_production" : "received" };
}

/** Replaces the address of an order. Deletes the old address when no order and no shipment uses it (specification 4.4). */
export function replaceAddress(world: World, order: StoredOrder, address: AddressInput): void {
  const old = world.addresses.get(order.dropshipAddressReference);
  const replacement = addAddress(world, address);
  replacement.uses += 1;
  order.dropshipAddressReference = replacement.reference;
  if (old === undefined) return;
  old.uses -= 1;
  if (old.uses === 0) world.addresses.delete(old.reference);
}
