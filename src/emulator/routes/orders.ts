import * as z from "zod/mini";
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
import { reference } from "../../schemas/shape.ts";
import { found, Problem } from "../base/problem.ts";
import {
  each,
  ifAny,
  lines,
  named,
  only,
  pages,
  quantity,
  type Route,
  referenceOnly,
  route,
  whole,
} from "../http/route.ts";
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

/** The email and the state of an address are checked in an order, but not in a quote (specification 4.7, quote rule 4). */
const anyAddress = () => {
  // Which fields are required is not shown (2.3 rule 4). Assumed: only the country. Samples have the unused fields as empty strings.
  const text = z._default(z.string(), "");
  return z.strictObject({
    company: text,
    firstname: text,
    lastname: text,
    streetname: text,
    housenumber: text,
    housenumberAddition: text,
    additionalInfo: text,
    state: text,
    zipcode: text,
    city: text,
    countryCode: z
      .string()
      .check(z.regex(/^[A-Z]{2}$/, { error: "expected two capital letters (ISO 3166-1 alpha-2), for example NL" })),
    phonenumber: text,
    email: text,
  });
};

const textAt = (value: unknown, field: string): string => {
  const text: unknown = Reflect.get(Object(value), field);
  return typeof text === "string" ? text.trim() : "";
};

/** Runs a rule also when single fields are invalid, so that all issues are reported at once. */
const anyway = { when: ({ value }: { value: unknown }) => typeof value === "object" && value !== null };

/** A text that says something, as JSON schema. */
const filled = { pattern: "\\S" };

/** The rules of a dropship address as JSON schema, and in words: `refine` is neither. */
const addressRules = {
  description:
    "The customer's address. `email` is required and not empty (`invalid_address_missing_email`). `state` is required and not empty in the United States and Italy.",
  allOf: [
    { required: ["email"], properties: { email: filled } },
    {
      if: { required: ["countryCode"], properties: { countryCode: { enum: ["US", "IT"] } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
      then: { required: ["state"], properties: { state: filled } },
    },
  ],
};

/** The rules of an order's shipping kind. */
const kindRules = {
  description:
    "With `shippingKind` `dropship`, `dropshipAddress` is required (`missing_address`). With `combined`, it and `dropshipMinimalShippingLevel` are absent.",
  if: { required: ["shippingKind"], properties: { shippingKind: { const: "dropship" } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
  then: { required: ["dropshipAddress"] },
  else: { properties: { dropshipAddress: false, dropshipMinimalShippingLevel: false } },
};

/** The address of a dropship order (2.3). */
const address = () =>
  anyAddress()
    .check(
      z.refine((value) => textAt(value, "email") !== "", {
        ...anyway,
        path: ["email"],
        error: "is required in a dropship address (invalid_address_missing_email)",
      }),
      z.refine((value) => !["US", "IT"].includes(textAt(value, "countryCode")) || textAt(value, "state") !== "", {
        ...anyway,
        path: ["state"],
        error: "is required for a destination in the United States or Italy",
      }),
    )
    .register(z.globalRegistry, addressRules);

/** The fields of an order and of a quote. */
const goods = (fields: z.core.$ZodLooseShape, destination: z.ZodMiniType) => {
  const has = (value: unknown, field: string) => Reflect.get(Object(value), field) !== undefined;
  const ships = (value: unknown, kind: string) => Reflect.get(Object(value), "shippingKind") === kind;
  return z
    .strictObject({
      storeReference: reference("Store"),
      shippingKind: z.enum(["dropship", "combined"]),
      dropshipAddress: z.optional(destination),
      dropshipMinimalShippingLevel: z.optional(z.enum(["basic", "tracked", "express"])),
      ...fields,
    })
    .check(
      z.refine((value) => !ships(value, "dropship") || has(value, "dropshipAddress"), {
        ...anyway,
        path: ["dropshipAddress"],
        error: "is required for a dropship order (missing_address)",
      }),
      z.refine((value) => !ships(value, "combined") || !has(value, "dropshipAddress"), {
        ...anyway,
        path: ["dropshipAddress"],
        error: "is absent for a combined order, which ships to the store's combined address",
      }),
      z.refine((value) => !ships(value, "combined") || !has(value, "dropshipMinimalShippingLevel"), {
        ...anyway,
        path: ["dropshipMinimalShippingLevel"],
        error: "is for dropship orders only",
      }),
    )
    .register(z.globalRegistry, kindRules);
};

/** 2.4 and 2.5. */
const order = () =>
  goods(
    {
      customIdentifier: z.optional(z.string()),
      orderlines: lines(
        z.strictObject({
          productReference: reference("Product"),
          imageReference: z.optional(reference("Image")),
          quantity: quantity(),
          annotations: z.optional(
            z
              .array(z.strictObject({ key: z.string(), value: z.string() }))
              .check(z.maxLength(10, { error: "at most 10 annotations per orderline" })),
          ),
        }),
      ),
    },
    address(),
  );

const quote = () =>
  goods(
    { orderlines: lines(z.strictObject({ productReference: reference("Product"), quantity: quantity() })) },
    anyAddress(),
  );

/** The bounds of the quantities are those of the line, with codes of their own (4.7, cancel rule 4). */
const cancellations = () => z.array(z.strictObject({ index: z.int(), canceledQuantity: z.int() }));

/** 2.4, 2.5. `status` is an object, whose shape is not shown. */
const promisedOrder = only({
  ...named("reference", "onHold", "legacyOrderCode"),
  status: only({}),
  orderlines: each(
    only({
      ...named("index", "productReference", "quantity", "canceledQuantity", "shippedQuantity", "annotations"),
      imageReference: ifAny,
      legacySku: whole,
    }),
  ),
  dropshipAddressReference: ifAny,
});

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
  route(createOrder, {
    models:
      "every check of the specification, dropship and combined orders, integrators; `product_not_orderable` for the stage alone",
    options: ["repeatedIdentifier", "keys", "automation"],
    controls: ["setStoreIntegration", "updateProduct", "seed"],
    body: order,
    promises: referenceOnly,
    handle: ({ body, ...caller }) => ({ reference: create(caller, body).reference }),
  }),
  route(listOrders, {
    models: "orders, newest first, by pages",
    options: ["pageSize", "seed.orders"],
    controls: ["seed"],
    query: pages,
    // 4.7 shows no field of an entry
    promises: referenceOnly,
    handle: ({ world, query }) => {
      const { items, nextCursor } = world.orders.page(query?.cursor);
      return { items: items.map(toSummary), nextCursor };
    },
  }),
  route(getOrder, {
    models: "production, holds, pre-orders, shipments in full or in part, cancellations; also in the environment test",
    options: ["automation", "seed.orders"],
    controls: ["startProduction", "hold", "release", "ship", "automate", "seed"],
    promises: promisedOrder,
    handle: ({ world, path }) => toOrder(world, orderAt(world, path.orderReference)),
  }),
  route(cancelOrder, {
    models: "total canceled quantities, all or nothing",
    controls: ["startProduction", "ship", "setStoreIntegration"],
    body: cancellations,
    handle: ({ world, path, body }) => {
      const order = orderAt(world, path.orderReference);
      writableStore(world, order.storeReference);
      cancelLines(world, order, body);
    },
  }),
  route(replaceDropshipAddress, {
    models: "a new address while the order is open; a replacement order is locked",
    controls: ["ship", "reviewClaim"],
    body: address,
    handle: ({ world, path, body }) => {
      const order = orderAt(world, path.orderReference);
      checkDestination(body);
      if (order.shippingKind !== "dropship") throw new Problem("order_not_dropship", "A combined order has no address");
      if (order.settles !== undefined) {
        throw new Problem("replacement_address_locked", `The order is the replacement of the claim ${order.settles}`);
      }
      if (!isOpen(order)) throw new Problem("order_completed", "Every orderline is shipped or canceled");
      replaceAddress(world, order, body);
    },
  }),
  route(quoteOrder, {
    models: "levels by destination, weight and value",
    controls: ["setStoreIntegration", "updateProduct"],
    body: quote,
    promises: only(named("level", "price")),
    handle: ({ world, body }) => {
      writableStore(world, body.storeReference);
      for (const { productReference } of body.orderlines) orderableProduct(world, productReference);
      if (body.shippingKind === "combined") return [];
      refuseDeniedCountry(body.dropshipAddress.countryCode);
      return shippingOptions(
        world,
        body.orderlines,
        body.dropshipAddress,
        body.dropshipMinimalShippingLevel ?? "basic",
      );
    },
  }),
  route(lookupOrder, {
    models: "the order of a custom identifier",
    options: ["repeatedIdentifier"],
    query: {
      // The name of the parameter is not shown (4.12). It is the SDK's default.
      [assumptions.customIdentifierParameter]: () => z.string(),
    },
    // 4.10
    promises: whole,
    handle: ({ world, query }) => {
      const identifier = query?.[assumptions.customIdentifierParameter];
      return found(world.orders.identified(identifier), `An order with the customIdentifier ${identifier}`).reference;
    },
  }),
];
