import type { SavedOrganization, SavedWorld } from "./saved-world.ts";

interface Referenced {
  readonly reference: string;
}

/** Reports a record of a list and what is wrong with it. */
type Report = (record: Referenced, message: string) => void;

/** A function that reports a reference that a list does not have. */
function createLookup(list: readonly Referenced[], report: Report) {
  const references = new Set(list.map(({ reference }) => reference));
  return (record: Referenced, reference: string | null | undefined) => {
    if (typeof reference === "string" && !references.has(reference)) {
      report(record, `names ${reference}, which the world does not have`);
    }
  };
}

function reportRepeated(list: readonly Referenced[], report: Report): void {
  const references = new Set<string>();
  for (const record of list) {
    if (references.has(record.reference)) report(record, "occurs more than once");
    references.add(record.reference);
  }
}

function reportQuantities({ orders }: SavedOrganization, report: Report): void {
  for (const order of orders) {
    for (const { index, quantity, shippedQuantity, canceledQuantity } of order.lines) {
      const isPossible =
        shippedQuantity >= 0 && canceledQuantity >= 0 && shippedQuantity + canceledQuantity <= quantity;
      if (!isPossible)
        report(
          order,
          `has ${shippedQuantity} shipped and ${canceledQuantity} canceled of ${quantity} in line ${index}`,
        );
    }
  }
}

function reportUses({ addresses, orders, shipments }: SavedOrganization, report: Report): void {
  const uses = new Map<string, number>();
  const users = [
    ...orders.map((order) => order.dropshipAddressReference),
    ...shipments.map((one) => one.addressReference),
  ];
  for (const reference of users) if (reference !== null) uses.set(reference, (uses.get(reference) ?? 0) + 1);
  for (const address of addresses) {
    const used = uses.get(address.reference) ?? 0;
    if (used !== address.uses) report(address, `has \`uses\` ${address.uses}, but ${used} orders and shipments use it`);
  }
}

function reportLinks(world: SavedWorld, organization: SavedOrganization, report: Report): void {
  const { keys, stores, addresses, images, renders, orders, shipments, claims } = organization;
  const lookup = (list: readonly Referenced[]) => createLookup(list, report);
  const [order, shipment, claim, image] = [lookup(orders), lookup(shipments), lookup(claims), lookup(images)];
  const [address, store, key, product] = [lookup(addresses), lookup(stores), lookup(keys), lookup(world.products)];
  for (const record of orders) {
    store(record, record.storeReference);
    address(record, record.dropshipAddressReference);
    claim(record, record.settles);
    for (const line of record.lines) {
      product(record, line.productReference);
      image(record, line.imageReference);
    }
  }
  for (const record of shipments) {
    address(record, record.addressReference);
    for (const parcel of record.parcels) order(record, parcel.orderReference);
  }
  for (const record of claims) {
    order(record, record.orderReference);
    order(record, record.replacement);
    shipment(record, record.shipmentReference);
    key(record, record.createdBy);
  }
  for (const record of renders) image(record, record.imageReference);
}

/** What is wrong with the records of a saved world, at most the first ten: references without a record, and numbers that contradict. */
export function inconsistencies(world: SavedWorld): readonly string[] {
  const found: string[] = [];
  for (const organization of world.organizations) {
    const report: Report = ({ reference }, message) => {
      if (found.length < 10) found.push(`${reference} of ${organization.name} ${message}`);
    };
    const { keys, stores, addresses, images, evidence, renders, orders, shipments, claims } = organization;
    for (const list of [keys, stores, addresses, images, evidence, renders, orders, shipments, claims]) {
      reportRepeated(list, report);
    }
    reportLinks(world, organization, report);
    reportQuantities(organization, report);
    reportUses(organization, report);
  }
  return found;
}
