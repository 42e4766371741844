import type { Gap } from "./gap.ts";

/** Parts 1 to 3 of the specification: organizations, fields and states. */
export const resourceGaps: readonly Gap[] = [
  {
    section: "1",
    notShown: "the delivery of a parcel: no field of a shipment or an order shows it",
    emulator: "nothing: it cannot be observed, so it has no control",
    code: ["src/testing/rules/shipping.ts"],
  },
  {
    section: "1",
    notShown: 'a dropship order "gives exactly one shipment", yet 2.5 counts shipped units and 4.9 claims by shipment',
    emulator: "by default one; `ship` with `lines` and the automation's `parts` make several",
    options: ["automation"],
    controls: ["ship", "automate"],
    code: ["src/testing/controls/orders.ts"],
  },
  {
    section: "1",
    notShown: "who owns the private productgroup, the private scene and the warehouse items",
    emulator: "the demo organization; others do not see them",
    options: ["organizations"],
    code: ["src/testing/catalog/shared-catalog.ts"],
  },
  {
    section: "2.3",
    notShown: "`countryCode` is ISO 3166-1, and has a pattern",
    emulator: "two capital letters; the emulator does not check that the country exists",
    code: ["src/schemas/address.ts"],
  },
  {
    section: "2.3",
    notShown: "the form of an e-mail address",
    emulator: "an `@` between two characters; otherwise `unknown_input_error`, but not for a quote",
    code: ["src/testing/rules/order-input.ts"],
  },
  {
    section: "2.3 rule 3",
    notShown: "which countries are denied",
    emulator: "BY, CU, IR, KP, RU and SY",
    code: ["src/testing/rules/shipping.ts"],
  },
  {
    section: "2.3 rule 4",
    notShown: "which address fields are required, and their maximum lengths",
    emulator:
      "`countryCode`, `email` (not for a quote), `state` in the US and Italy; no lengths; absent fields are stored empty",
    code: ["src/testing/rules/order-input.ts"],
  },
  {
    section: "2.4",
    notShown: "a repeated `customIdentifier`",
    emulator: "no second order: the first one's reference, also when the content differs",
    options: ["repeatedIdentifier"],
    code: ["src/testing/options.ts"],
  },
  {
    section: "2.4",
    notShown: "order fields beyond those listed, and the field for a preferred packaging",
    emulator: "none; a packaging is refused as an unknown field",
    code: ["src/testing/routes/orders.ts"],
  },
  {
    section: "2.4, 3.4",
    notShown: "shape, values and transitions of an order's `status`",
    emulator: "an object with `code`: `received`, `in_production`, `partially_shipped`, `shipped`, `canceled`",
    options: ["automation"],
    controls: ["startProduction", "ship", "automate"],
    code: ["src/testing/rules/orders.ts"],
  },
  {
    section: "2.6",
    notShown: "the entries of a product's `media`, and the place of layer images",
    emulator: "`filename`, `url`; `layers.images` with `name`, `url`",
    code: ["src/testing/routes/catalog.ts"],
  },
  {
    section: "2.6",
    notShown: "the name of a replaced example render",
    emulator: "a new one, because its files may be cached for a year; the old name is a 404",
    controls: ["replaceMedia"],
    code: ["src/testing/routes/catalog.ts"],
  },
  {
    section: "2.6",
    notShown: "fields of productgroups and packagings; prices",
    emulator:
      "`reference` and `name`; no response has the price, which is made up and raises the lowest shipping level",
    code: ["src/testing/routes/catalog.ts", "src/testing/rules/shipping.ts"],
  },
  {
    section: "2.6, 2.10",
    notShown: "what changes the stock",
    emulator: "only controls: orders and shipments do not",
    controls: ["setStock", "updateProduct"],
    code: ["src/testing/controls/catalog.ts"],
  },
  {
    section: "2.8",
    notShown: "the form of `createdBy`",
    emulator: "the reference of the key",
    code: ["src/testing/routes/claims.ts"],
  },
  {
    section: "2.8",
    notShown: "the origin and the path of evidence URLs, and whether they need the key",
    emulator: "`/evidence/{evidenceReference}` below the base URL, with the key",
    code: ["src/testing/routes/files.ts"],
  },
  {
    section: "2.9",
    notShown: "further composition fields",
    emulator: "none",
    code: ["src/testing/routes/rendering.ts"],
  },
  {
    section: "2.10",
    notShown: "the entries of a shipment's `orders` and of an item's `products`",
    emulator: "objects with `reference`",
    code: ["src/testing/routes/shipments.ts", "src/testing/routes/warehouse.ts"],
  },
  {
    section: "2.11",
    notShown: "fields of organization, account, store and brand",
    emulator:
      "`name`, with `environment` in an organization, `reference` in the others, `integration` and `legacyCode` in a store",
    options: ["organizations"],
    code: ["src/testing/routes/organization.ts"],
  },
  {
    section: "3.1",
    notShown: "which units of a decided claim can be claimed again",
    emulator: "the rejected ones",
    controls: ["reviewClaim"],
    code: ["src/testing/rules/claims.ts"],
  },
  {
    section: "3.3",
    notShown: "what moves a product to its next stage",
    emulator: "only a control",
    controls: ["updateProduct"],
    code: ["src/testing/controls/catalog.ts"],
  },
  {
    section: "3.4",
    notShown: "what a hold stops",
    emulator: "every shipment, and the steps of the automation until the release; orders are not canceled by it",
    controls: ["hold", "release"],
    code: ["src/testing/controls/order-steps.ts"],
  },
];
