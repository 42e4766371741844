import type { StoredLine, StoredOrder } from "../../records/records.ts";
import type { RecordFindings } from "./findings.ts";
import type { CheckedOrganization } from "./organization.ts";

/** The quantity of each line in all shipments, by order and index. */
type Shipped = ReadonlyMap<string, ReadonlyMap<number, number>>;

function shippedLines({ saved }: CheckedOrganization): Shipped {
  const shipped = new Map<string, Map<number, number>>();
  for (const { orderReference, lines } of saved.shipments.flatMap(({ parcels }) => parcels)) {
    const quantities = shipped.get(orderReference) ?? new Map<number, number>();
    shipped.set(orderReference, quantities);
    for (const { index, quantity } of lines) quantities.set(index, (quantities.get(index) ?? 0) + quantity);
  }
  return shipped;
}

function checkQuantities(line: StoredLine, shipped: number, at: readonly (string | number)[], found: RecordFindings) {
  const { index, quantity, shippedQuantity, canceledQuantity } = line;
  if (shippedQuantity + canceledQuantity > quantity) {
    found.add(at, `has ${shippedQuantity} shipped and ${canceledQuantity} canceled of ${quantity} in line ${index}`);
  }
  if (shippedQuantity !== shipped) {
    found.add(at, `has ${shippedQuantity} shipped in line ${index}, but the shipments have ${shipped}`);
  }
}

function checkLine(
  { world }: CheckedOrganization,
  line: StoredLine,
  at: readonly (string | number)[],
  found: RecordFindings,
): void {
  const { productReference, imageReference } = line;
  found.names([...at, "productReference"], productReference, world.products);
  found.names([...at, "imageReference"], imageReference, world.images);
  const printed = world.products.get(productReference)?.printed ?? imageReference !== null;
  if (printed === (imageReference !== null)) return;
  found.add([...at, "imageReference"], printed ? "lacks the image of a printed product" : "has an image without print");
}

function checkOrder(organization: CheckedOrganization, order: StoredOrder, found: RecordFindings): void {
  const { stores, addresses, claims } = organization.world;
  const { dropshipAddressReference: address, shippingKind, settles, postponed } = order;
  found.names(["storeReference"], order.storeReference, stores);
  found.names(["dropshipAddressReference"], address, addresses);
  found.names(["settles"], settles, claims);
  if ((address === null) !== (shippingKind === "combined")) {
    found.add(
      ["dropshipAddressReference"],
      `is a ${shippingKind} order ${address === null ? "without" : "with"} address`,
    );
  }
  const claim = claims.get(settles);
  if (claim !== undefined && claim.replacement !== order.reference) {
    found.add(["settles"], `settles ${settles}, whose replacement is ${claim.replacement ?? "null"}`);
  }
  if (postponed !== null && postponed.order !== order.reference)
    found.add(["postponed"], `postpones ${postponed.order}`);
}

/** Checks the orders with their lines against what they refer to and what was shipped. */
export function checkOrders(organization: CheckedOrganization): void {
  const shipped = shippedLines(organization);
  organization.each("orders", (order, found) => {
    checkOrder(organization, order, found);
    const quantities = shipped.get(order.reference);
    for (const [position, line] of order.lines.entries()) {
      const at = ["lines", position];
      if (line.index !== position + 1)
        found.add([...at, "index"], `has the index ${line.index} instead of ${position + 1}`);
      checkQuantities(line, quantities?.get(line.index) ?? 0, at, found);
      checkLine(organization, line, at, found);
    }
  });
}

/** Checks the shipments against the orders that they contain. */
export function checkShipments(organization: CheckedOrganization): void {
  const { addresses, orders } = organization.world;
  organization.each("shipments", ({ parcels, addressReference }, found) => {
    found.names(["addressReference"], addressReference, addresses);
    for (const [position, { orderReference, lines }] of parcels.entries()) {
      const at = ["parcels", position];
      found.names([...at, "orderReference"], orderReference, orders);
      const ordered = orders.get(orderReference)?.lines;
      for (const { index } of ordered === undefined ? [] : lines) {
        if (ordered?.[index - 1] === undefined)
          found.add([...at, "lines"], `has line ${index}, which the order has not`);
      }
    }
  });
}

/** Checks how often each address is used: an address without a use is deleted. */
export function checkAddresses(organization: CheckedOrganization): void {
  const uses = new Map<string, number>();
  const count = (reference: string | null) => {
    if (reference !== null) uses.set(reference, (uses.get(reference) ?? 0) + 1);
  };
  for (const order of organization.saved.orders) count(order.dropshipAddressReference);
  for (const shipment of organization.saved.shipments) count(shipment.addressReference);
  organization.each("addresses", (address, found) => {
    const used = uses.get(address.reference) ?? 0;
    if (used !== address.uses) {
      found.add(["uses"], `has \`uses\` ${address.uses}, but ${used} orders and shipments use it`);
    }
  });
}
