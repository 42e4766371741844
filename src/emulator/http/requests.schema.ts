import * as z from "zod/mini";
import { reference } from "../../references/schema.ts";
import { assumptions } from "../../schemas/assumptions.ts";
import type { Schema } from "../../schemas/shape.ts";
import { instantOf } from "./instant.ts";

/**
 * What the service takes, by hand from the specification (parts 2 and 4), and nothing of the SDK's own checks: the emulator would not
 * notice that both assume the same. Where the specification is silent, the rule says "assumed".
 */

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

/** The address of a dropship order (2.3). */
const address = () =>
  anyAddress().check(
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
  );

/** The smallest quantity is not shown. Assumed: 1. */
const quantity = () => z.int().check(z.gte(1));

/** "An order has one or more orderlines" (1). Assumed for claimlines, too. */
const lines = (line: z.ZodMiniType) => z.array(line).check(z.minLength(1, { error: "expected at least one line" }));

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
    );
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

const render = () =>
  z.strictObject({ compositionReference: reference("Composition"), imageReference: reference("Image") });

/** Up to 3 (4.9). Assumed: they may be left out. */
const evidence = () =>
  z._default(z.array(reference("Evidence")).check(z.maxLength(3, { error: "at most 3 evidence references" })), []);

const packageMissing = () =>
  z.strictObject({ shipmentReference: reference("Shipment"), evidenceReferences: evidence() });

const longestComment = 1000;

const itemIssues = () =>
  z.strictObject({
    shipmentReference: reference("Shipment"),
    orderReference: reference("Order"),
    // Assumed: a character is a code point, of which some are two units of UTF-16.
    comment: z.optional(
      z
        .string()
        .check(
          z.refine((text) => [...text].length <= longestComment, { error: `at most ${longestComment} characters` }),
        ),
    ),
    claimlines: lines(
      z.strictObject({
        // An index that is not in the shipment has a code of its own (7).
        orderlineIndex: z.int(),
        quantity: quantity(),
        claimcategoryReference: reference("Claimcategory"),
        evidenceReferences: evidence(),
      }),
    ),
  });

/** The content of each JSON body, by the call of its endpoint. */
export const bodySchemas: Readonly<Record<string, Schema>> = {
  "renders.create": render,
  "orders.create": order,
  "orders.cancel": cancellations,
  "orders.replaceDropshipAddress": address,
  "orders.quote": quote,
  "claims.createPackageMissing": packageMissing,
  "claims.createItemIssues": itemIssues,
};

const pages = { cursor: () => z.optional(z.string()) };

const timestamp = () =>
  z.string().check(z.refine((text) => instantOf(text) !== undefined, { error: "expected an ISO 8601 timestamp" }));

/** The query parameters of each endpoint that has some, by its call. */
export const querySchemas: Readonly<Record<string, Readonly<Record<string, Schema>>>> = {
  "catalog.products.list": pages,
  "warehouse.items.list": pages,
  "images.list": pages,
  "orders.list": pages,
  "claims.list": { ...pages, closedAfter: () => z.optional(timestamp()) },
  "scenes.list": { productgroupReference: () => z.optional(reference("Productgroup")) },
  "perspectives.list": {
    sceneReference: () => z.optional(reference("Scene")),
    productReference: () => z.optional(reference("Product")),
  },
  "compositions.lookup": {
    sceneReference: () => reference("Scene"),
    productReference: () => reference("Product"),
    perspectiveReference: () => reference("Perspective"),
  },
  "catalog.products.lookup": { legacyItemSku: () => z.string() },
  // The name of the parameter is not shown (4.12). It is the SDK's default.
  "orders.lookup": { [assumptions.customIdentifierParameter]: () => z.string() },
};
