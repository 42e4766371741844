import type { OrderReference } from "../../references/references.ts";
import type { StoredStore } from "../catalog/organization.ts";
import { ControlError } from "../core/control-error.ts";
import type { Emulation } from "../emulation/emulation.ts";
import type { StoredOrder } from "../records/records.ts";
import { addImage } from "../rules/images.ts";
import { checkDestination } from "../rules/order-input.ts";
import { addAddress, addOrder, type OrderDraft, waitReason } from "../rules/orders.ts";
import { ship } from "../rules/ship.ts";
import type { PlantedOrder, PlantedShipment } from "../settings/planted.ts";
import type { SeedLine, SeedOrder, SeedShipment } from "../settings/seed.schema.ts";
import type { World } from "../state/world.ts";
import { addressOf } from "./generated-orders.ts";
import { inPast } from "./in-past.ts";
import { plantClaim } from "./plant-claim.ts";

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
  if (!isCombined) checkDestination(address);
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
export function plantOrder(emulation: Emulation, seed: SeedOrder): PlantedOrder {
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
