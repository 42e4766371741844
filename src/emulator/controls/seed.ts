import type {
  ClaimReference,
  OrderReference,
  ProductReference,
  ShipmentReference,
} from "../../references/references.ts";
import type { CompleteAddress } from "../../schemas/address.ts";
import { ControlError } from "../base/control-error.ts";
import { sampleImage } from "../base/pictures.ts";
import { known, Problem } from "../base/problem.ts";
import { addProduct, packageMissing, shareProduct } from "../catalog/catalog.ts";
import type { StoredStore } from "../catalog/organization.ts";
import { legacySkuOf } from "../catalog/products.ts";
import { refuseUnknownStock } from "../rules/catalog.ts";
import { claimItems, claimPackage, decideAll, review } from "../rules/claims.ts";
import { addEvidence, addImage } from "../rules/files.ts";
import { addAddress, addOrder, checkDestination, type OrderDraft, waitReason } from "../rules/orders.ts";
import { ship } from "../rules/ship.ts";
import {
  type Planted,
  type PlantedOrder,
  type PlantedShipment,
  type SeedClaim,
  type SeedClaimOf,
  type SeedLine,
  type SeedOrder,
  type SeedProduct,
  type SeedRecords,
  type SeedShipment,
  seedRecords,
} from "../settings/seed.ts";
import type { Emulation } from "../state/emulation.ts";
import type { Caller, World } from "../state/world.ts";
import type { StoredClaim, StoredOrder } from "../work/records.ts";
import { control, find } from "./control.ts";

const day = 86_400_000;

/** The same world, some days earlier: what is added to it has that time. */
function inPast(world: World, daysAgo = 0): World {
  const time = world.now() - daysAgo * day;
  return { ...world, now: () => time };
}

const places = [
  { countryCode: "NL", city: "Amsterdam", zipcode: "1012 LG", streetname: "Damrak" },
  { countryCode: "DE", city: "Berlin", zipcode: "10117", streetname: "Unter den Linden" },
  { countryCode: "FR", city: "Paris", zipcode: "75001", streetname: "Rue de Rivoli" },
  { countryCode: "BE", city: "Brussel", zipcode: "1000", streetname: "Nieuwstraat" },
] as const;

/** The address of a customer: all fields, the unused ones empty (specification 2.3). */
const addressOf = (number: number): CompleteAddress => ({
  company: "",
  firstname: "Customer",
  lastname: String(number),
  housenumber: String(number),
  housenumberAddition: "",
  additionalInfo: "",
  state: "",
  phonenumber: "",
  email: `customer-${number}@shop.example`,
  ...(places[number % places.length] ?? places[0]),
});

/** Adds a number of different orders, so that lists have pages. */
function generateOrders(world: World, count: number): readonly StoredOrder[] {
  if (count === 0) return [];
  const [store] = world.stores.values();
  const image = addImage(world, "seed");
  const first = world.orders.size + 1;
  return Array.from({ length: count }, (_, position) => {
    const number = first + position;
    return addOrder(world, {
      store: known(store, "A store"),
      shippingKind: "dropship",
      customIdentifier: `seed-${number}`,
      minimalLevel: "basic",
      address: addAddress(world, addressOf(number)),
      settles: undefined,
      lines: [
        {
          productReference: world.demo.products.slimCase,
          imageReference: image.reference,
          quantity: 1 + (number % 3),
          annotations: [],
        },
      ],
    });
  });
}

/** The first key of a world's organization. */
function callerOf(world: World): Caller {
  const [key] = world.keys.values();
  if (key === undefined) throw new ControlError(`${world.organization.name} has no key`);
  return { world, key };
}

function file(world: World, order: OrderReference, shipment: ShipmentReference, seed: SeedClaim): StoredClaim {
  const { category: name = "damaged", lines, comment = "" } = seed;
  const reference = world.make.named("Claimcategory", name);
  const category = world.claimcategories.find((candidate) => candidate.reference === reference);
  if (category === undefined) throw new ControlError(`There is no claim category ${name}`);
  if (category.name === packageMissing) {
    if (lines !== undefined) throw new ControlError("A claim of a missing package covers all items: remove `lines`");
    return claimPackage(callerOf(world), { shipmentReference: shipment });
  }
  const first = world.shipments.get(shipment)?.parcels[0]?.lines[0];
  const claimed = lines ?? [{ index: first?.index ?? 1, quantity: 1 }];
  return claimItems(callerOf(world), {
    shipmentReference: shipment,
    orderReference: order,
    comment,
    claimlines: claimed.map(({ index, quantity }) => ({
      orderlineIndex: index,
      quantity,
      claimcategoryReference: reference,
      evidenceReferences: category.evidenceRequired ? [addEvidence(world, sampleImage("evidence")).reference] : [],
    })),
  });
}

/** Files a claim about a shipment, and decides it when the seed says so. */
function plantClaim(world: World, order: OrderReference, shipment: ShipmentReference, seed: SeedClaim): ClaimReference {
  const past = inPast(world, seed.daysAgo);
  if (past.now() < (world.shipments.get(shipment)?.shipped ?? 0)) {
    throw new ControlError("The claim is older than its shipment: change `daysAgo`");
  }
  const claim = file(past, order, shipment, seed);
  const { decision } = seed;
  if (decision === "retracted") claim.retracted = world.now();
  else if (decision !== undefined) review(world, claim, decideAll(claim, decision, ""));
  return claim.reference;
}

/** Finds a store by its name in the demo catalog, its legacy code or its reference, and the world that it belongs to. */
function storeOf(worlds: readonly World[], name: string): { readonly world: World; readonly store: StoredStore } {
  for (const world of worlds) {
    const byReference = world.stores.get(name) ?? world.stores.get(world.make.named("Store", name));
    const store = byReference ?? [...world.stores.values()].find(({ legacyCode }) => legacyCode === name);
    if (store !== undefined) return { world, store };
  }
  throw new ControlError(`There is no store ${name}`);
}

function draftLine(world: World, line: SeedLine): OrderDraft["lines"][number] {
  const { product: name = "slimCase", quantity = 1, image = "seed", annotations = [] } = line;
  const product =
    world.products.get(name) ??
    world.products.get(world.make.named("Product", name)) ??
    world.products.all().find((candidate) => candidate.name === name);
  if (product === undefined) throw new ControlError(`There is no product ${name}`);
  if (!product.printed && line.image !== undefined) {
    throw new ControlError(`${product.name} is not printed: remove the image`);
  }
  return {
    productReference: product.reference,
    imageReference: product.printed ? addImage(world, image).reference : null,
    quantity,
    annotations,
  };
}

function draft(world: World, store: StoredStore, seed: SeedOrder): OrderDraft {
  const { shippingKind = "dropship", dropshipAddress, dropshipMinimalShippingLevel, orderlines = [{}] } = seed;
  const isCombined = shippingKind === "combined";
  if (isCombined && (dropshipAddress ?? dropshipMinimalShippingLevel) !== undefined) {
    throw new ControlError("A combined order has no address and no shipping level");
  }
  const address = { ...addressOf(world.orders.size + 1), ...dropshipAddress };
  if (!isCombined) checkDestination(world, address);
  return {
    store,
    shippingKind,
    customIdentifier: seed.customIdentifier,
    minimalLevel: dropshipMinimalShippingLevel ?? "basic",
    settles: undefined,
    lines: orderlines.map((line) => draftLine(world, line)),
    address: isCombined ? null : addAddress(world, address),
  };
}

function cancel(order: StoredOrder, lines: readonly SeedLine[]): void {
  for (const [position, line] of order.lines.entries()) {
    const canceled = lines[position]?.canceledQuantity ?? 0;
    if (canceled > line.quantity) {
      throw new ControlError(`Line ${line.index} has the quantity ${line.quantity}; ${canceled} cannot be canceled`);
    }
    line.canceledQuantity = canceled;
  }
}

function plantShipment(world: World, order: StoredOrder, seed: SeedShipment): PlantedShipment {
  const past = inPast(world, seed.daysAgo);
  if (past.now() < order.created) throw new ControlError("The shipment is older than its order: change `daysAgo`");
  const reference = ship(past, [order], seed.lines);
  const claims = seed.claims ?? [];
  return { reference, claims: claims.map((claim) => plantClaim(world, order.reference, reference, claim)) };
}

/** Adds an order with its shipments and claims. */
function plantOrder(emulation: Emulation, seed: SeedOrder): PlantedOrder {
  const { world, store } = storeOf(emulation.worlds, seed.store ?? "api");
  const order = addOrder(inPast(world, seed.daysAgo), draft(world, store, seed));
  cancel(order, seed.orderlines ?? []);
  const waits = seed.inProduction === true ? waitReason(world, order) : undefined;
  if (waits !== undefined) throw new ControlError(`The order cannot be in production: it ${waits}`);
  order.inProduction = seed.inProduction ?? false;
  const shipments = (seed.shipments ?? []).map((shipment) =>
    plantShipment(world, order, { daysAgo: seed.daysAgo, ...shipment }),
  );
  order.onHold = seed.onHold === undefined ? null : { reason: seed.onHold };
  const reference: OrderReference = order.reference;
  return { reference, shipments };
}

/** The productgroup with a name in the demo catalog, or a reference. */
function groupOf({ productgroups, make }: World, name: string) {
  const named = make.named("Productgroup", name);
  const group = productgroups.find(({ reference }) => reference === name || reference === named);
  if (group === undefined) throw new ControlError(`There is no productgroup ${name}`);
  return group.reference;
}

const skuOf = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "-");

/** Adds a product to the catalog, for every organization that sees its productgroup. */
function plantProduct({ worlds: [main, ...others] }: Emulation, seed: SeedProduct): ProductReference {
  const { name, productgroup = "slimCases", sku = skuOf(name), printed = true, weightGrams = 30 } = seed;
  const { status = "launched", availableQuantity = 100 } = seed;
  refuseUnknownStock({ status, availableQuantity });
  if (main.products.all().some((product) => product.name === name)) {
    throw new ControlError(`There is a product ${name} already`);
  }
  const created = inPast(main, seed.daysAgo).now();
  const shared = main.items.all().find((item) => item.sku === sku)?.products.length ?? 0;
  const added = {
    reference: seed.reference ?? main.make.named("Product", name),
    name,
    productgroup: groupOf(main, productgroup),
    legacyItemSKU: legacySkuOf(sku, created, shared + 1),
    printed,
    sku,
  };
  const picture = { version: 1, modified: created };
  const product = addProduct(main, main.make, added, {
    status,
    availableQuantity,
    weightGrams,
    layersModified: created,
    printModified: created,
    media: { example: picture, render: picture },
  });
  for (const world of others) shareProduct(world, product);
  return product.reference;
}

/** Files a claim about the first order of a shipment that exists. */
function plantClaimOf(emulation: Emulation, { shipment: reference, ...claim }: SeedClaimOf): ClaimReference {
  const { world, record } = find(emulation, "shipments", reference);
  const [parcel] = record.parcels;
  return plantClaim(world, known(parcel, "A parcel").orderReference, reference, claim);
}

/** Says which entry of the list is wrong. */
function at<Value>(place: string, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Problem || error instanceof ControlError)) throw error;
    throw new ControlError(`${place}: ${error.message}`, [{ path: [place], message: error.message }]);
  }
}

/** Adds the records of a seed. Throws a {@link ControlError} for an entry that the rules of the service do not allow. */
export function plant(
  emulation: Emulation,
  { products = [], orders = [], claims = [], images = [], evidence = [] }: SeedRecords,
): Planted {
  const [world] = emulation.worlds;
  const added = products.map((product, position) =>
    at(`products[${position}]`, () => plantProduct(emulation, product)),
  );
  const generated = typeof orders === "number" ? generateOrders(world, orders) : [];
  const described = typeof orders === "number" ? [] : orders;
  return {
    products: added,
    orders: [
      ...generated.map(({ reference }) => ({ reference, shipments: [] })),
      ...described.map((order, position) => at(`orders[${position}]`, () => plantOrder(emulation, order))),
    ],
    claims: claims.map((claim, position) => at(`claims[${position}]`, () => plantClaimOf(emulation, claim))),
    images: images.map((name) => addImage(world, name).reference),
    evidence: evidence.map((name) => addEvidence(world, sampleImage(name)).reference),
  };
}

/** The control that adds records. */
export interface SeedControls {
  /**
   * Adds products, orders with their shipments and claims, claims about shipments that exist, images and evidence, as the option `seed`
   * does at the start. Returns their references. Either all records are added or none.
   *
   * @throws {@link ControlError} for an entry that the rules of the service do not allow.
   *
   * @example
   * const { orders } = emulator.seed({ orders: [{ daysAgo: 9, shipments: [{ daysAgo: 7, claims: [{}] }] }] });
   */
  seed(records: SeedRecords): Planted;
}

export const seedControls = {
  seed: control({
    about:
      "Adds products, orders with their shipments and claims, claims about shipments, images and evidence. Returns their references.",
    on: "world",
    fields: seedRecords,
    run: (emulation, records) => {
      // An entry can be refused in the middle of the list.
      const isList = Array.isArray(records.orders) || records.products !== undefined || records.claims !== undefined;
      const before = isList ? emulation.save() : undefined;
      try {
        return plant(emulation, records);
      } catch (error) {
        if (before !== undefined) emulation.load(before);
        throw error;
      }
    },
  }),
};
