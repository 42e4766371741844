import type { Endpoint } from "../../http/endpoint.ts";
import { isRecord } from "../../util/foreign.ts";

/** Reduces a value to what the specification promises of it. `undefined` leaves the field out. */
type Promised = (value: unknown) => unknown;

/** The specification promises the value as it is. */
const whole: Promised = (value) => value;
/** The field is there only where it applies: without a value it is left out. */
const ifAny: Promised = (value) => value ?? undefined;
/** A text that nobody wrote is null. */
const written: Promised = (value) => (value === "" ? null : value);

/** An object with these fields, which the specification promises, and no others. Null stays null. */
const only =
  (fields: Readonly<Record<string, Promised>>): Promised =>
  (value) => {
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(fields).map(([name, promised]) => [name, promised(value[name])]));
  };

/** Each entry of a list, which may be null. */
const each =
  (entry: Promised): Promised =>
  (value) =>
    Array.isArray(value) ? value.map(entry) : value;

/** `whole` for each of the names. */
const named = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, whole]));

/** A resource whose fields are not shown: every resource is identified by a reference (2.1). */
const reference = only(named("reference"));

/**
 * 2.6. The print specifications of an announced product may be incomplete (3.3), and so may its stock: null in the list, and left out of
 * the detail.
 */
const productFields = named("reference", "name", "status", "legacyItemSKU");
const incomplete = ["availableQuantity", "layersModified", "printModified"];
const listed = only({ ...productFields, ...named(...incomplete) });
const listedAnnounced = only({ ...productFields, ...Object.fromEntries(incomplete.map((name) => [name, () => null])) });
const detail = { ...productFields, weightGrams: whole, media: each(only({})) };
const detailed = only({
  ...detail,
  ...named(...incomplete),
  layers: only(named("modified")),
  print: only(named("modified")),
});
const isAnnounced = (value: unknown): boolean => isRecord(value) && value.status === "announced";
const product: Promised = (value) => (isAnnounced(value) ? listedAnnounced(value) : listed(value));
const productDetail: Promised = (value) => (isAnnounced(value) ? only(detail)(value) : detailed(value));

/** 2.8 */
const category = only(named("reference", "name"));
const claim = only({
  ...named("reference", "orderReference", "shipmentReference", "status", "createdBy", "created", "retracted"),
  comment: written,
  decision: only({ ...named("decided", "refundShippingCosts"), comment: written }),
  evidenceUrls: whole,
  claimlines: each(
    only({
      ...named("productReference", "orderlineIndex", "quantity", "evidenceUrls"),
      imageReference: ifAny,
      claimcategory: category,
      decision: only({
        ...named("replacementQuantity", "refundQuantity", "rejectionQuantity"),
        comment: written,
      }),
    }),
  ),
});

/** 2.9 */
const composition = only(named("reference", "tokenCost"));
const file: Promised = (value) => only(named("mimeType", "extension", "size"))(ifAny(value));
const linked = each(reference);

/** 2.4, 2.5. `status` is an object, whose shape is not shown. */
const order = only({
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

/**
 * What the specification promises of the data of each JSON response, by the call of its endpoint, by hand from parts 2, 3 and 4. Of a
 * list, it is what it promises of an entry. Entries whose shape is not shown have only a reference, if they are of a resource.
 */
export const promises: Readonly<Record<string, Promised>> = {
  "auth.validate": only(named("message")), // 4.1
  "organization.get": only({}), // 4.12: not shown; an organization has no kind of reference
  "organization.accounts.list": reference,
  "organization.stores.list": only(named("reference", "integration", "legacyCode")), // 2.11
  "organization.brands.list": reference,
  "catalog.products.list": product,
  "catalog.products.get": productDetail,
  "catalog.products.lookup": whole, // 4.10
  "catalog.packagings.list": reference,
  "catalog.productgroups.list": reference,
  "warehouse.items.list": only({
    ...named("reference", "sku", "logicalQuantity", "physicalQuantity"), // 2.10
    products: linked,
  }),
  "addresses.get": reference, // 4.12: not shown
  "images.upload": reference, // 2.7
  "images.list": reference,
  "evidence.upload": reference,
  "scenes.list": only(named("reference", "name")), // 2.9
  "scenes.get": only({
    ...named("reference", "name", "description", "private", "allowsProductPerspectives"),
    compatibleProductgroups: linked,
    perspectives: linked,
  }),
  "perspectives.list": reference, // 4.6 shows no field of an entry
  "perspectives.get": only({
    ...named("reference", "name"),
    output: only(named("widthPx", "heightPx", "format")),
    scenes: linked,
    products: linked,
  }),
  "compositions.lookup": composition,
  "compositions.get": composition,
  "renders.create": reference,
  "renders.get": only({
    ...named("reference", "compositionReference", "imageReference", "status", "created"),
    thumbhash: ifAny,
    media: file,
    thumbnail: file,
    completed: ifAny,
  }),
  "rendertokens.get": only(named("used", "limit", "remaining", "resets")),
  "orders.create": reference,
  "orders.list": reference, // 4.7 shows no field of an entry
  "orders.get": order,
  "orders.quote": only(named("level", "price")), // 4.7
  "orders.lookup": whole, // 4.10
  "shipments.get": only({
    reference: whole, // 2.10
    orders: linked,
    carrier: ifAny,
    trackingNumber: ifAny,
    trackingUrl: ifAny,
  }),
  "claims.categories.list": only(named("reference", "name", "evidenceRequired")), // 2.8
  "claims.createPackageMissing": reference,
  "claims.createItemIssues": reference,
  "claims.list": only({
    ...named("reference", "orderReference", "status", "created", "retracted", "decided"),
    claimcategories: each(category),
  }),
  "claims.get": claim,
};

/** The data of a response without the fields that the specification does not promise. */
export function promisedOf({ call, response }: Endpoint, data: unknown): unknown {
  const promised = promises[call] ?? whole;
  if (response.kind === "page" && isRecord(data)) return { ...data, items: each(promised)(data.items) };
  return Array.isArray(data) ? data.map(promised) : promised(data);
}
