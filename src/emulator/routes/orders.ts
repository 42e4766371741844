import type { OrderReference } from "../../references/references.ts";
import {
  cancelOrder,
  createOrder,
  getOrder,
  listOrders,
  lookupOrder,
  type Order,
  type OrderInput,
  quoteOrder,
  replaceDropshipAddress,
} from "../../resources/orders/orders.endpoints.ts";
import { assumptions } from "../../schemas/assumptions.ts";
import { found, Problem } from "../base/problem.ts";
import { type Route, route } from "../http/route.ts";
import {
  addAddress,
  addOrder,
  cancelLines,
  checkDestination,
  checkOrderline,
  isOpen,
  orderableProduct,
  orderStatus,
  refuseDeniedCountry,
  replaceAddress,
  writableStore,
} from "../rules/orders.ts";
import { shippingOptions } from "../rules/shipping.ts";
import type { Caller, World } from "../state/world.ts";
import type { StoredOrder } from "../work/records.ts";

const orderAt = (world: World, reference: OrderReference): StoredOrder =>
  found(world.orders.get(reference), `Order ${reference}`);

const toOrder = (world: World, order: StoredOrder): Order => ({
  reference: order.reference,
  status: orderStatus(order),
  orderlines: order.lines.map((line) => ({
    ...line,
    legacySku: world.products.get(line.productReference)?.legacyItemSKU ?? null,
  })),
  onHold: order.onHold,
  dropshipAddressReference: order.dropshipAddressReference,
  legacyOrderCode: order.legacyOrderCode,
});

const toSummary = (order: StoredOrder) => ({
  reference: order.reference,
  status: orderStatus(order),
  legacyOrderCode: order.legacyOrderCode,
});

/** Handles a repeated `customIdentifier` by the option `repeatedIdentifier`: the specification does not show what happens. */
function repeated(world: World, identifier: string | undefined): StoredOrder | undefined {
  const { repeatedIdentifier } = world.settings;
  const first = repeatedIdentifier === "create" ? undefined : world.orders.identified(identifier);
  if (first === undefined || repeatedIdentifier === "return-first") return first;
  throw new Problem(
    "custom_identifier_taken",
    `The order ${first.reference} already has the customIdentifier ${identifier}`,
  );
}

function create({ world, key }: Caller, input: OrderInput): StoredOrder {
  // Assumed: an empty identifier identifies nothing.
  const customIdentifier = input.customIdentifier === "" ? undefined : input.customIdentifier;
  const store = writableStore(world, input.storeReference);
  if (input.shippingKind === "dropship") checkDestination(input.dropshipAddress);
  for (const line of input.orderlines) checkOrderline(world, line);
  const first = repeated(world, customIdentifier);
  if (first !== undefined) return first;
  return addOrder(world, {
    store,
    shippingKind: input.shippingKind,
    customIdentifier,
    minimalLevel: input.dropshipMinimalShippingLevel ?? "basic",
    address: input.shippingKind === "dropship" ? addAddress(world, input.dropshipAddress) : null,
    settles: undefined,
    ...(key.integrator === null ? {} : { viaStoreCode: key.integrator }),
    lines: input.orderlines.map(({ productReference, imageReference, quantity, annotations }) => ({
      productReference,
      imageReference: imageReference ?? null,
      quantity,
      annotations: annotations ?? [],
    })),
  });
}

export const orderRoutes: readonly Route[] = [
  route(createOrder, ({ body, ...caller }) => ({ reference: create(caller, body).reference })),
  route(listOrders, ({ world, query }) => {
    const { items, nextCursor } = world.orders.page(query?.cursor);
    return { items: items.map(toSummary), nextCursor };
  }),
  route(getOrder, ({ world, path }) => toOrder(world, orderAt(world, path.orderReference))),
  route(cancelOrder, ({ world, path, body }) => {
    const order = orderAt(world, path.orderReference);
    writableStore(world, order.storeReference);
    cancelLines(world, order, body);
  }),
  route(replaceDropshipAddress, ({ world, path, body }) => {
    const order = orderAt(world, path.orderReference);
    checkDestination(body);
    if (order.shippingKind !== "dropship") throw new Problem("order_not_dropship", "A combined order has no address");
    if (order.settles !== undefined) {
      throw new Problem("replacement_address_locked", `The order is the replacement of the claim ${order.settles}`);
    }
    if (!isOpen(order)) throw new Problem("order_completed", "Every orderline is shipped or canceled");
    replaceAddress(world, order, body);
  }),
  route(quoteOrder, ({ world, body }) => {
    writableStore(world, body.storeReference);
    for (const { productReference } of body.orderlines) orderableProduct(world, productReference);
    if (body.shippingKind === "combined") return [];
    refuseDeniedCountry(body.dropshipAddress.countryCode);
    return shippingOptions(world, body.orderlines, body.dropshipAddress, body.dropshipMinimalShippingLevel ?? "basic");
  }),
  route(lookupOrder, ({ world, query }) => {
    const identifier = query?.[assumptions.customIdentifierParameter];
    return found(world.orders.identified(identifier), `An order with the customIdentifier ${identifier}`).reference;
  }),
];
