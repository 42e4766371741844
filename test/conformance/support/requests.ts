import { address, evidenceOf, imageOf, itemClaim, placeOrder, renderInput, shipped, unknownRef } from "./inputs.ts";
import type { Service } from "./service.ts";

/** A valid request with a JSON body that has every field that part 4 shows. */
export interface JsonRequest {
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Case {
  /** The endpoint, as in part 4. */
  readonly endpoint: string;
  readonly make: (service: Service) => Promise<JsonRequest>;
  /** The paths of the required fields. */
  readonly required: readonly string[];
  /** The paths of the fields that may be left out, each alone and all of them. */
  readonly optional: readonly string[];
  /** Values of fields: the whole of an enum, and the bounds. */
  readonly values: readonly Values[];
}

/** What a field takes and what it refuses. */
interface Values {
  readonly path: string;
  readonly taken: readonly unknown[];
  readonly refused: readonly unknown[];
  /** The status and the code of the refusal, where the specification shows them. */
  readonly refusal?: readonly [status: number, code: string];
}

const values = (path: string, taken: readonly unknown[], refused: readonly unknown[]): Values => ({
  path,
  taken,
  refused,
});

/** A reference (2.1): the kind, `_` and 26 characters of the set. */
const referenceTo = (path: string, kind: string, other: string): Values =>
  values(
    path,
    [],
    [
      unknownRef(other),
      `${kind}_${"z".repeat(25)}`,
      `${kind}_${"z".repeat(27)}`,
      `${kind}_${"u".repeat(26)}`,
      `${kind}_${"Z".repeat(26)}`,
      `${kind.toLowerCase()}_${"z".repeat(26)}`,
      ` ${unknownRef(kind)}`,
      "",
      7,
    ],
  );

const addressFields =
  "company firstname lastname streetname housenumber housenumberAddition additionalInfo state".split(" ");
const restOfAddress = "zipcode city phonenumber".split(" ");

/** 2.3: which fields are required is not shown, but for the email, and the state of two countries. Unused fields are empty. */
const addressAt = (path: string) => ({
  optional: [...addressFields, ...restOfAddress].map((name) => `${path}.${name}`),
  values: [
    values(`${path}.countryCode`, ["NL", "DE", "JP"], ["nl", "NLD", "N", "", "N1", "ÑL", " NL", null]),
    ...[...addressFields, ...restOfAddress].map((name) =>
      values(`${path}.${name}`, ["", "é 漢 😀", "x".repeat(200)], [null, 7, ["x"]]),
    ),
  ],
});

const post = (path: string, body: Readonly<Record<string, unknown>>): JsonRequest => ({ method: "POST", path, body });

const order: Case = {
  endpoint: "POST /orders",
  make: async (service) => {
    const line = { productReference: service.demo.products.slimCase, imageReference: await imageOf(service) };
    const orderlines = [{ ...line, quantity: 1, annotations: [{ key: "row", value: "7" }] }];
    return post("/orders", {
      order: {
        storeReference: service.demo.stores.api,
        shippingKind: "dropship",
        customIdentifier: "shop-1",
        dropshipAddress: address,
        dropshipMinimalShippingLevel: "tracked",
        orderlines,
      },
    });
  },
  required: [
    "order",
    "order.storeReference",
    "order.shippingKind",
    "order.dropshipAddress",
    "order.orderlines",
    "order.orderlines.0.productReference",
    "order.orderlines.0.imageReference",
    "order.orderlines.0.quantity",
    "order.orderlines.0.annotations.0.key",
    "order.orderlines.0.annotations.0.value",
    "order.dropshipAddress.email",
  ],
  optional: [
    "order.customIdentifier",
    "order.dropshipMinimalShippingLevel",
    "order.orderlines.0.annotations",
    ...addressAt("order.dropshipAddress").optional,
  ],
  values: [
    ...addressAt("order.dropshipAddress").values,
    {
      path: "order.dropshipAddress.email",
      taken: [],
      refused: ["", " "],
      refusal: [400, "invalid_address_missing_email"],
    },
    referenceTo("order.storeReference", "Store", "Brand"),
    values("order.shippingKind", ["dropship"], ["Dropship", "pickup", "", 1]),
    values("order.dropshipMinimalShippingLevel", ["basic", "tracked", "express"], ["fast", "Basic", "", 0, null]),
    values("order.customIdentifier", ["a", "#é 漢 😀", "x".repeat(200)], [7, ["a"], null]),
    values("order.orderlines", [], [[], {}, null]),
    referenceTo("order.orderlines.0.productReference", "Product", "Item"),
    referenceTo("order.orderlines.0.imageReference", "Image", "Product"),
    values("order.orderlines.0.quantity", [1, 2, 100_000], [1.5, "1", true, 1e30, null]),
    values(
      "order.orderlines.0.annotations",
      [[], Array.from({ length: 10 }, () => ({ key: "k", value: "v" }))],
      [
        Array.from({ length: 11 }, () => ({ key: "k", value: "v" })),
        [{ key: "k" }],
        [{ value: "v" }],
        [["k", "v"]],
        null,
      ],
    ),
    values("order.orderlines.0.annotations.0.key", ["", "row", "é 漢 😀"], [7, null]),
    values("order.orderlines.0.annotations.0.value", ["", "7", "x".repeat(5000)], [7, null]),
  ],
};

const quote: Case = {
  endpoint: "POST /quote",
  make: async ({ demo }) =>
    post("/quote", {
      quote: {
        storeReference: demo.stores.api,
        shippingKind: "dropship",
        dropshipAddress: address,
        dropshipMinimalShippingLevel: "basic",
        orderlines: [{ productReference: demo.products.slimCase, quantity: 1 }],
      },
    }),
  required: [
    "quote",
    "quote.storeReference",
    "quote.shippingKind",
    "quote.dropshipAddress",
    "quote.orderlines",
    "quote.orderlines.0.productReference",
    "quote.orderlines.0.quantity",
  ],
  // Of the address, a quote validates only the country (4.7, quote rule 4).
  optional: [
    "quote.dropshipMinimalShippingLevel",
    "quote.dropshipAddress.email",
    ...addressAt("quote.dropshipAddress").optional,
  ],
  values: [
    ...addressAt("quote.dropshipAddress").values,
    values("quote.dropshipAddress.email", ["", "no e-mail"], [7, null]),
    referenceTo("quote.storeReference", "Store", "Brand"),
    values("quote.shippingKind", ["dropship"], ["Dropship", "pickup", "", 1]),
    values("quote.dropshipMinimalShippingLevel", ["basic", "tracked", "express"], ["fast", "Basic", "", 0, null]),
    values("quote.orderlines", [], [[], {}, null]),
    referenceTo("quote.orderlines.0.productReference", "Product", "Item"),
    values("quote.orderlines.0.quantity", [1, 2, 100_000], [1.5, "1", true, null]),
  ],
};

const photos = (count: number): readonly string[] => Array.from({ length: count }, () => unknownRef("Evidence"));

/** Every endpoint with a JSON body. */
export const jsonCases: readonly Case[] = [
  {
    endpoint: "POST /renders",
    make: async (service) => post("/renders", await renderInput(service)),
    required: ["render", "render.compositionReference", "render.imageReference"],
    optional: [],
    values: [
      referenceTo("render.compositionReference", "Composition", "Scene"),
      referenceTo("render.imageReference", "Image", "Evidence"),
    ],
  },
  order,
  {
    endpoint: "POST /orders/{orderReference}/cancel",
    make: async (service) => {
      const orderlines = [{ index: 1, canceledQuantity: 1 }];
      return post(`/orders/${await placeOrder(service)}/cancel`, { orderlines });
    },
    required: ["orderlines", "orderlines.0.index", "orderlines.0.canceledQuantity"],
    optional: [],
    values: [
      // Lines that are not listed keep their value (cancel rule 1).
      values("orderlines", [[]], [{}, null]),
      values("orderlines.0.index", [1], [0, -1, 3, 1.5, "1", null]),
      values("orderlines.0.canceledQuantity", [0, 1, 3], [1.5, "1", null]),
      {
        path: "orderlines.0.canceledQuantity",
        taken: [],
        refused: [4, 1000],
        refusal: [409, "canceled_quantity_exceeds_shippable"],
      },
      {
        path: "orderlines.0.canceledQuantity",
        taken: [],
        refused: [-1, -1000],
        refusal: [409, "canceled_quantity_below_current"],
      },
    ],
  },
  {
    endpoint: "PUT /orders/{orderReference}/dropship-address",
    make: async (service) => {
      const path = `/orders/${await placeOrder(service)}/dropship-address`;
      return { method: "PUT", path, body: { dropshipAddress: address } };
    },
    required: ["dropshipAddress", "dropshipAddress.email"],
    optional: addressAt("dropshipAddress").optional,
    values: [
      ...addressAt("dropshipAddress").values,
      { path: "dropshipAddress.email", taken: [], refused: ["", " "], refusal: [400, "invalid_address_missing_email"] },
    ],
  },
  quote,
  {
    endpoint: "POST /claim-package-missing",
    make: async (service) => {
      const { shipment } = await shipped(service);
      service.clock.advance(30 * 86_400_000);
      const evidenceReferences = [await evidenceOf(service)];
      return post("/claim-package-missing", { claim: { shipmentReference: shipment, evidenceReferences } });
    },
    required: ["claim", "claim.shipmentReference"],
    optional: [],
    values: [
      referenceTo("claim.shipmentReference", "Shipment", "Order"),
      values("claim.evidenceReferences", [[]], [photos(4), [unknownRef("Image")], "Evidence", null]),
    ],
  },
  {
    endpoint: "POST /claim-item-issues",
    make: async (service) => {
      const parcel = await shipped(service);
      const { claim } = itemClaim(service, parcel, { evidenceReferences: [await evidenceOf(service)] });
      return post("/claim-item-issues", { claim: { ...claim, comment: "Upside down" } });
    },
    required: [
      "claim",
      "claim.shipmentReference",
      "claim.orderReference",
      "claim.claimlines",
      "claim.claimlines.0.orderlineIndex",
      "claim.claimlines.0.quantity",
      "claim.claimlines.0.claimcategoryReference",
    ],
    optional: ["claim.comment"],
    values: [
      referenceTo("claim.shipmentReference", "Shipment", "Order"),
      referenceTo("claim.orderReference", "Order", "Shipment"),
      values("claim.comment", ["", "x".repeat(1000), "😀".repeat(1000)], ["x".repeat(1001), 7, null]),
      values("claim.claimlines", [], [[], {}, null]),
      values("claim.claimlines.0.orderlineIndex", [1], [1.5, "1", null]),
      {
        path: "claim.claimlines.0.orderlineIndex",
        taken: [],
        refused: [0, -1, 3],
        refusal: [400, "orderline_not_in_shipment"],
      },
      values("claim.claimlines.0.quantity", [1, 3], [4, 1.5, "1", null]),
      referenceTo("claim.claimlines.0.claimcategoryReference", "Claimcategory", "Claim"),
      values("claim.claimlines.0.evidenceReferences", [[]], [photos(4), [unknownRef("Image")], "Evidence", null]),
    ],
  },
];
