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
import { addressFields } from "../../schemas/address.ts";
import { assumptions } from "../../schemas/assumptions.ts";
import { reference } from "../../schemas/shape.ts";
import { assertCurrent } from "../base/messages.ts";
import { found, Problem } from "../base/problem.ts";
import type { StoredStore } from "../catalog/organization.ts";
import { jsonResponse } from "../http/respond.ts";
import {
  each,
  ifAny,
  lines,
  named,
  only,
  pages,
  quantity,
  type Route,
  rawRoute,
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
import type { EmulatorAssumptions } from "../settings/assumed.ts";
import type { Settings } from "../settings/options.ts";
import type { Caller, World } from "../state/world.ts";
import type { StoredOrder } from "../work/records.ts";

/** The email and the state of an address are checked in an order, but not in a quote (specification 4.7, quote rule 4). */
const anyAddress = () => {
  // Samples have the unused fields as empty strings.
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

/** Required fields and lengths, which are not shown (2.3 rule 4). */
const assumedOfAddress = ({ requiredAddressFields, addressLengths }: EmulatorAssumptions) =>
  addressFields.flatMap((field) => {
    const length = addressLengths[field];
    const isRequired = requiredAddressFields.includes(field) && !["countryCode", "email"].includes(field);
    return [
      ...(isRequired
        ? [z.refine((value) => textAt(value, field) !== "", { ...anyway, path: [field], error: "is required" })]
        : []),
      ...(length === undefined
        ? []
        : [
            z.refine((value) => textAt(value, field).length <= length, {
              ...anyway,
              path: [field],
              error: `at most ${length} characters`,
            }),
          ]),
    ];
  });

/** The address of a dropship order (2.3). */
const address = (assumed: EmulatorAssumptions) =>
  anyAddress()
    .check(
      ...assumedOfAddress(assumed),
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
const order = (assumed: EmulatorAssumptions) =>
  goods(
    {
      ...Object.fromEntries(assumed.orderFields.map((field) => [field, z.optional(z.unknown())])),
      customIdentifier: z.optional(
        z.string().check(
          z.refine((text) => text.length <= (assumed.identifierLength ?? Number.POSITIVE_INFINITY), {
            error: `at most ${assumed.identifierLength} characters`,
          }),
        ),
      ),
      orderlines: lines(
        z.strictObject({
          productReference: reference("Product"),
          imageReference: z.optional(reference("Image")),
          quantity: quantity(assumed),
          annotations: z.optional(
            z
              .array(z.strictObject({ key: z.string(), value: z.string() }))
              .check(z.maxLength(10, { error: "at most 10 annotations per orderline" })),
          ),
        }),
      ),
    },
    address(assumed),
  );

const quote = (assumed: EmulatorAssumptions) =>
  goods(
    { orderlines: lines(z.strictObject({ productReference: reference("Product"), quantity: quantity(assumed) })) },
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

const orderAt = (world: World, reference: OrderReference): StoredOrder => {
  const order = world.orders.get(reference);
  return found(order && isVisible(world, order, "read") ? order : undefined, `Order ${reference}`);
};

/** Whether a read shows an order that was just created. */
function isVisible({ settings, now }: World, { created }: StoredOrder, where: "lookup" | "list" | "read"): boolean {
  const { [where]: delay = 0 } = settings.assumptions.visibleAfter;
  return now() >= created + delay;
}

/** A value that may not apply: then it is null, or the field is missing. */
const ofValue = <Name extends string, Value>({ settings }: World, name: Name, value: Value | null) =>
  (value === null && settings.assumptions.absentValue === "missing" ? { [name]: undefined } : { [name]: value }) as {
    readonly [Field in Name]: Value | null;
  };

/** The shipments of an order, if orders are assumed to name them. */
function shipmentsOf({ settings, shipments }: World, { reference }: StoredOrder): object {
  const { shipmentsField } = settings.assumptions;
  if (shipmentsField === null) return {};
  const own = [...shipments.values()].filter(({ parcels }) =>
    parcels.some(({ orderReference }) => orderReference === reference),
  );
  return { [shipmentsField]: own.map((shipment) => ({ reference: shipment.reference })) };
}

const toOrder = (world: World, order: StoredOrder): Order => ({
  ...shipmentsOf(world, order),
  reference: order.reference,
  status: orderStatus(world, order),
  orderlines: order.lines.map((line) => ({
    ...line,
    ...ofValue(world, "imageReference", line.imageReference),
    legacySku: world.products.get(line.productReference)?.legacyItemSKU ?? null,
  })),
  onHold: order.onHold,
  ...ofValue(world, "dropshipAddressReference", order.dropshipAddressReference),
  legacyOrderCode: order.legacyOrderCode,
});

const toSummary = (world: World, order: StoredOrder) => ({
  reference: order.reference,
  status: orderStatus(world, order),
  legacyOrderCode: order.legacyOrderCode,
});

/** Handles a repeated `customIdentifier` by the option `repeatedIdentifier`: the specification does not show what happens. */
function repeated(world: World, identifier: string | undefined, store: StoredStore): StoredOrder | undefined {
  const { repeatedIdentifier, assumptions } = world.settings;
  const scope = assumptions.identifierScope === "store" ? store.reference : undefined;
  const first = repeatedIdentifier === "create" ? undefined : world.orders.identified(identifier, scope);
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
  if (input.shippingKind === "dropship") checkDestination(world, input.dropshipAddress);
  for (const line of input.orderlines) checkOrderline(world, line);
  const first = repeated(world, customIdentifier, store);
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

const isCanceled = ({ lines }: StoredOrder): boolean =>
  lines.every(({ quantity, canceledQuantity }) => quantity === canceledQuantity);

/** The response of the look-up by custom identifier, whose shape is not shown (4.10), nor how it says that there is no order. */
function lookupResponse({ assumptions }: Settings, reference: OrderReference | null, what: string): Response {
  const { orderReferenceField, noOrder } = assumptions;
  if (reference === null && noOrder[0] === "empty") return new Response(null, { status: 204 });
  if (reference === null && noOrder[0] === "bare-404") return new Response(null, { status: 404 });
  if (reference === null && noOrder[0] !== "null") throw new Problem("not_found", `${what} does not exist`);
  return jsonResponse({ [orderReferenceField]: reference });
}

export const orderRoutes: readonly Route[] = [
  route(createOrder, {
    models:
      "every check of the specification, dropship and combined orders, integrators; `product_not_orderable` for the stage alone",
    options: ["repeatedIdentifier", "keys", "automation"],
    controls: ["setStoreIntegration", "updateProduct", "seed"],
    body: order,
    promises: referenceOnly,
    handle: async ({ body, ...caller }) => {
      const { world } = caller;
      const { creationTime } = world.settings.assumptions;
      if (creationTime > 0) await new Promise<void>((resolve) => world.clock.wire.after(creationTime, resolve));
      assertCurrent(world);
      return { reference: create(caller, body).reference };
    },
  }),
  route(listOrders, {
    models: "orders, newest first, by pages",
    options: ["pageSize", "seed.orders"],
    controls: ["seed"],
    query: pages,
    // 4.7 shows no field of an entry
    promises: referenceOnly,
    handle: ({ world, query }) => {
      const { items, nextCursor } = world.orders.page(query?.cursor, (order) => isVisible(world, order, "list"));
      return { items: items.map((order) => toSummary(world, order)), nextCursor };
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
      checkDestination(world, body);
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
      refuseDeniedCountry(world.settings.assumptions, body.dropshipAddress.countryCode);
      return shippingOptions(
        world,
        body.orderlines,
        body.dropshipAddress,
        body.dropshipMinimalShippingLevel ?? "basic",
      );
    },
  }),
  rawRoute(lookupOrder, {
    models: "the order of a custom identifier",
    options: ["repeatedIdentifier", "assumptions"],
    query: {
      // The name of the parameter is not shown (4.12). The input is read under the SDK's default.
      [assumptions.customIdentifierParameter]: () => z.string(),
    },
    handle: ({ world, query }) => {
      const { settings } = world;
      const identifier = query?.[assumptions.customIdentifierParameter];
      const order = world.orders.identified(identifier);
      const isShown = order !== undefined && isVisible(world, order, "lookup");
      const reference = isShown && (settings.assumptions.findsCanceled || !isCanceled(order)) ? order.reference : null;
      return lookupResponse(settings, reference, `An order with the customIdentifier ${identifier}`);
    },
  }),
];
