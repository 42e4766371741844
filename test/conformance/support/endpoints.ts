import { unknownRef } from "./inputs.ts";
import {
  exactly,
  filled,
  flag,
  integer,
  list,
  type Matcher,
  nothing,
  nullOr,
  oneOf,
  ref,
  selected,
  text,
  timestamp,
  url,
} from "./shapes.ts";

/** The kinds of references (2.1). */
export const kinds = [
  "Address",
  "Account",
  "Brand",
  "Claim",
  "Claimcategory",
  "Evidence",
  "Image",
  "Packaging",
  "Perspective",
  "Product",
  "Productgroup",
  "Render",
  "Scene",
  "Store",
  "Shipment",
  "Order",
  "Item",
  "Composition",
  "Key",
] as const;

/** The policies of part 8. */
export type Bucket = "uploads" | "downloads";

/** An endpoint of part 4, by hand from the specification. The tests of the client and those of the emulator take it from here. */
export interface Endpoint {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  /** The section that shows it, and what that section says of the response. */
  readonly section: string;
  readonly says: string;
  /** The bucket of part 8 that it draws from besides `default`. */
  readonly bucket?: Bucket;
  /**
   * What may be done when the response is lost (parts 4 and 8). Uploads of the same content have the same reference, and a render that is
   * requested again costs tokens but no second order.
   */
  readonly repeat: "safe" | "idempotent" | "recoverable" | "never";
  /** The response of a read of JSON without a query: what is promised, and nothing more. */
  readonly promises?: Matcher;
  /** The emulator has no such record, and responds with 404. */
  readonly notInEmulator?: true;
}

/** An endpoint that reads JSON, with the fields that its response promises. */
const read = (section: string, path: string, says: string, fields?: Readonly<Record<string, Matcher>>): Endpoint => ({
  method: "GET",
  path,
  section,
  says,
  repeat: "safe",
  ...(fields && { promises: exactly(fields) }),
});

/** An endpoint that reads a file. */
const file = (section: string, path: string, says: string): Endpoint => ({
  ...read(section, path, says),
  bucket: "downloads",
});

/** An endpoint with a list that has pages (4.11). */
const pages = (section: string, path: string, says: string, entry: Matcher): Endpoint =>
  read(section, path, says, { [path.slice(1)]: list(entry), nextCursor: nothing });

const send = (
  method: "POST" | "PUT",
  section: string,
  path: string,
  says: string,
  repeat: Endpoint["repeat"],
  bucket?: Bucket,
): Endpoint => ({ method, path, section, says, repeat, ...(bucket && { bucket }) });

const named = (kind: string) => exactly({ reference: ref(kind), name: text });
const only = (kind: string) => exactly({ reference: ref(kind) });

const announced = { availableQuantity: nothing, layersModified: nothing, printModified: nothing };
const other = { availableQuantity: integer, layersModified: timestamp, printModified: timestamp };
const product = { reference: ref("Product"), name: text, status: text, legacyItemSKU: text };
/** 3.3: the print specifications of an announced product may be incomplete. */
const listedProduct = selected((value) => {
  const isAnnounced = String(JSON.stringify(value)).includes('"announced"');
  return exactly({ ...product, ...(isAnnounced ? announced : other) });
});
const modified = exactly({ modified: timestamp });

const renderFile = exactly({ mimeType: text, extension: text, size: integer });

/** 2.5: a line of a product that is not printed has no image. The example is of a printed one. */
const orderline = selected((value) => {
  const printed = value === undefined || String(JSON.stringify(value)).includes("imageReference");
  return exactly({
    index: integer,
    quantity: integer,
    canceledQuantity: integer,
    shippedQuantity: integer,
    annotations: list(exactly({ key: text, value: text })),
    productReference: ref("Product"),
    legacySku: text,
    ...(printed ? { imageReference: ref("Image") } : {}),
  });
});

const claimline = exactly({
  productReference: ref("Product"),
  orderlineIndex: integer,
  quantity: integer,
  imageReference: ref("Image"),
  claimcategory: named("Claimcategory"),
  decision: nothing,
  evidenceUrls: list(url),
});

/** Every endpoint of part 4, in its order. */
export const endpoints: readonly Endpoint[] = [
  send("POST", "4.1", "/auth/validate", "200 with `message`", "safe"),
  read("4.2", "/organization", "the organization's record", { organization: exactly({}) }),
  read("4.2", "/accounts", "a list of accounts", { accounts: list(only("Account")) }),
  read("4.2", "/stores", "a list of stores", {
    stores: list(exactly({ reference: ref("Store"), integration: text, legacyCode: text })),
  }),
  read("4.2", "/brands", "a list of brands", { brands: list(only("Brand")) }),
  pages("4.3", "/products", "paginated `products`", listedProduct),
  read("4.3", "/products/{productReference}", "`product`", {
    product: exactly({
      ...product,
      ...other,
      layers: modified,
      print: modified,
      weightGrams: nullOr(integer),
      media: list(exactly({})),
    }),
  }),
  file("4.3", "/products/{productReference}/media/{filename}", "a binary file"),
  read("4.3", "/packagings", "a list of packagings", { packagings: list(only("Packaging")) }),
  read("4.3", "/productgroups", "a list of productgroups", { productgroups: list(only("Productgroup")) }),
  pages(
    "4.3",
    "/items",
    "paginated `items`",
    exactly({
      reference: ref("Item"),
      sku: text,
      logicalQuantity: integer,
      physicalQuantity: integer,
      products: list(only("Product")),
    }),
  ),
  read("4.4", "/addresses/{addressReference}", "an address", { address: only("Address") }),
  send("POST", "4.5", "/images", "`image.reference` for raw bytes", "idempotent", "uploads"),
  pages("4.5", "/images", "paginated `images`", only("Image")),
  send("POST", "4.5", "/evidence", "`evidence.reference` for raw bytes", "idempotent", "uploads"),
  read("4.6", "/scenes", "`scenes`, optionally of a productgroup", { scenes: list(named("Scene")) }),
  read("4.6", "/scenes/{sceneReference}", "`scene`", {
    scene: exactly({
      reference: ref("Scene"),
      name: text,
      description: text,
      private: flag,
      allowsProductPerspectives: flag,
      compatibleProductgroups: list(only("Productgroup")),
      perspectives: list(only("Perspective")),
    }),
  }),
  read("4.6", "/perspectives", "`perspectives`, optionally of a scene and a product", {
    perspectives: list(only("Perspective")),
  }),
  read("4.6", "/perspectives/{perspectiveReference}", "`perspective`", {
    perspective: exactly({
      reference: ref("Perspective"),
      name: text,
      output: exactly({ widthPx: integer, heightPx: integer, format: text }),
      scenes: nullOr(list(only("Scene"))),
      products: nothing,
    }),
  }),
  read("4.6", "/lookup-composition", "`composition`; 404 when it does not exist, 410 when it is no longer available"),
  read("4.6", "/compositions/{compositionReference}", "`composition`", {
    composition: exactly({ reference: ref("Composition"), tokenCost: integer }),
  }),
  send("POST", "4.6", "/renders", "`render.reference`; both fields are required", "idempotent"),
  read("4.6", "/renders/{renderReference}", "`render`", {
    render: exactly({
      reference: ref("Render"),
      compositionReference: ref("Composition"),
      imageReference: ref("Image"),
      status: oneOf("completed", "pending", "failed"),
      thumbhash: text,
      media: renderFile,
      thumbnail: renderFile,
      created: timestamp,
      completed: timestamp,
    }),
  }),
  file("4.6", "/renders/{renderReference}/media", "a file; 202 with `Retry-After` while not complete"),
  file("4.6", "/renders/{renderReference}/thumbnail", "the same for the thumbnail"),
  read("4.6", "/rendertokens", "`rendertokens`", {
    rendertokens: exactly({ used: integer, limit: integer, remaining: integer, resets: timestamp }),
  }),
  send("POST", "4.7", "/orders", "`order.reference`", "recoverable"),
  pages("4.7", "/orders", "paginated `orders`", only("Order")),
  read("4.7", "/orders/{orderReference}", "`order`", {
    order: exactly({
      reference: ref("Order"),
      status: exactly({}),
      orderlines: list(orderline),
      onHold: nothing,
      dropshipAddressReference: ref("Address"),
      legacyOrderCode: text,
    }),
  }),
  send("POST", "4.7", "/orders/{orderReference}/cancel", "204", "idempotent"),
  send("PUT", "4.7", "/orders/{orderReference}/dropship-address", "204", "idempotent"),
  send("POST", "4.7", "/quote", "`shippingOptions` of `level` and `price`", "safe"),
  read("4.8", "/shipments/{shipmentReference}", "`shipment`", {
    shipment: exactly({
      reference: ref("Shipment"),
      orders: list(only("Order")),
      carrier: filled,
      trackingNumber: filled,
      trackingUrl: url,
    }),
  }),
  read("4.9", "/claimcategories", "`claimcategories`", {
    claimcategories: list(exactly({ reference: ref("Claimcategory"), name: text, evidenceRequired: flag })),
  }),
  send("POST", "4.9", "/claim-package-missing", "`claim.reference`", "recoverable"),
  send("POST", "4.9", "/claim-item-issues", "`claim.reference`; `comment` is optional", "recoverable"),
  pages(
    "4.9",
    "/claims",
    "paginated `claims`: open ones, and those closed within 14 days or after `closedAfter`",
    exactly({
      reference: ref("Claim"),
      orderReference: ref("Order"),
      status: text,
      claimcategories: list(named("Claimcategory")),
      created: timestamp,
      retracted: nothing,
      decided: nothing,
    }),
  ),
  read("4.9", "/claims/{claimReference}", "`claim`", {
    claim: exactly({
      reference: ref("Claim"),
      orderReference: ref("Order"),
      status: text,
      comment: nullOr(text),
      createdBy: text,
      created: timestamp,
      retracted: nothing,
      decision: nothing,
      shipmentReference: ref("Shipment"),
      evidenceUrls: list(url),
      claimlines: list(claimline),
    }),
  }),
  send("POST", "4.9", "/claims/{claimReference}/retract", "204; only while `pending`", "recoverable"),
  read("4.10", "/utilities/lookup-product-reference-by-legacy-sku", "`productReference`"),
  read("4.10", "/utilities/lookup-order-reference-by-custom-identifier", "the order's reference"),
];

/** The path with other references: `referenceOf("Order")` is that of `{orderReference}`. */
export const pathWith = ({ path }: Endpoint, referenceOf: (kind: string) => string): string =>
  path
    .replace(/\{(\w+)Reference\}/g, (_, name: string) => referenceOf(name.charAt(0).toUpperCase() + name.slice(1)))
    .replace("{filename}", "front.png");

/** The path with references of resources that do not exist. */
export const filledPath = (endpoint: Endpoint): string => pathWith(endpoint, unknownRef);

/** The endpoints whose path names a resource. */
export const ofOneResource = endpoints.filter(({ path }) => path.includes("Reference}"));

export const nameOf = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path}`;

/** The rule that an endpoint exists and responds as its section says. */
export const ruleOf = (endpoint: Endpoint): string => `${endpoint.section} ${nameOf(endpoint)}`;

/** The endpoints that read one record or a file of it, each with its rule. */
export const readByReference = ofOneResource
  .filter(({ method }) => method === "GET")
  .map((endpoint) => [ruleOf(endpoint), endpoint] as const);

/** The endpoints whose response is shown, each with its rule and what is promised. */
export const promised = endpoints.flatMap((endpoint) =>
  endpoint.promises === undefined ? [] : [[ruleOf(endpoint), endpoint, endpoint.promises] as const],
);

/** Those that the emulator has a record for. */
export const emulated = promised.filter(([, { notInEmulator }]) => !notInEmulator);
