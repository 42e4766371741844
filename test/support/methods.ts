import type { ReferenceKind } from "pod-partner";
import { validAddress } from "pod-partner/testing";
import type { Endpoint } from "../../src/http/endpoint.ts";
import { kinds } from "../conformance/support/endpoints.ts";
import { endpoints } from "./endpoints.ts";
import { dropshipOrder } from "./orders.ts";
import { jpeg } from "./pictures.ts";
import { ref } from "./references.ts";

export type Method = (...given: unknown[]) => unknown;

/** All methods of the client and its resources, by their path. */
export function methodsOf(object: object, path = "", methods = new Map<string, Method>()): ReadonlyMap<string, Method> {
  const prototype: object = Object.getPrototypeOf(object);
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    // For the SDK itself.
    if (name.startsWith("~")) continue;
    if (name !== "constructor" && typeof value === "function") methods.set(path + name, value.bind(object));
  }
  for (const [name, part] of Object.entries(object)) {
    if (typeof part === "object" && part !== null) methodsOf(part, `${path}${name}.`, methods);
  }
  return methods;
}

/** The method of the client with a path: `orders.get`. */
export function methodOf(partner: object, call: string): Method {
  const method = methodsOf(partner).get(call);
  if (method === undefined) throw new Error(`The client has no method ${call}`);
  return method;
}

/** Valid arguments of a method without its options, and the names of options that only some methods have. */
export type Arguments = readonly [given: readonly unknown[], ...own: readonly string[]];

const order = { ...dropshipOrder, customIdentifier: "shop-1001" };
const line = { productReference: ref("Product"), quantity: 1 };
const claim = { shipmentReference: ref("Shipment") };
const claimline = { orderlineIndex: 1, quantity: 1, claimcategoryReference: ref("Claimcategory") };
const render = { compositionReference: ref("Composition"), imageReference: ref("Image") };
const parts = {
  sceneReference: ref("Scene"),
  productReference: ref("Product"),
  perspectiveReference: ref("Perspective"),
};
const quote = { storeReference: ref("Store"), shippingKind: "combined", orderlines: [line] };

/** The methods that take more than the references of a path and the options of the query. */
const byHand: Readonly<Record<string, Arguments>> = {
  request: [["GET", "/things"], "schema"],
  "auth.validate": [[], "signal", "timeout", "deadline", "priority", "retry", "headers", "query", "body"],
  "catalog.products.changes": [[], "since", "details", "deadline"],
  "catalog.products.media": [[ref("Product"), "a.png"], "etag", "lastModified", "headers"],
  "catalog.products.layerImage": [["http://partner.test/a.png"], "etag"],
  "catalog.products.lookup": [[{ legacySku: "SKU-1" }]],
  "warehouse.items.changes": [[], "since"],
  "images.upload": [[jpeg], "onProgress", "onDownsize"],
  "images.uploadOnce": [[jpeg], "onProgress"],
  "evidence.download": [["http://partner.test/a.png"]],
  "evidence.upload": [[jpeg], "onProgress"],
  "compositions.lookup": [[parts]],
  "compositions.search": [[{ sceneReference: ref("Scene") }], "concurrency"],
  "renders.create": [[render]],
  "renders.wait": [[ref("Render")], "interval", "onPending"],
  "renders.media": [[ref("Render")], "wait"],
  "renders.thumbnail": [[ref("Render")], "wait"],
  "renders.batch": [[[render]], "map", "concurrency", "maxPending", "tokenBudget", "onProgress"],
  "orders.create": [[order], "body"],
  "orders.ensure": [[order], "lookFor", "compare", "body"],
  "orders.ensureMany": [[[order]], "map", "concurrency"],
  "orders.cancel": [[ref("Order"), [{ index: 1, canceledQuantity: 1 }]]],
  "orders.cancelRemaining": [[ref("Order")], "signal", "deadline"],
  "orders.replaceDropshipAddress": [[ref("Order"), validAddress()]],
  "orders.quote": [[quote]],
  "orders.lookup": [[{ customIdentifier: "shop-1001" }]],
  "claims.createPackageMissing": [[claim]],
  "claims.createItemIssues": [[{ ...claim, orderReference: ref("Order"), claimlines: [claimline] }]],
};

/** The methods whose arguments are written by hand. */
export const namedByHand: readonly string[] = Object.keys(byHand);

/** The kinds of the references in a path: `["Order"]` for `/orders/{orderReference}`. */
export function kindsIn({ path }: Pick<Endpoint, "path">): readonly ReferenceKind[] {
  const positionOf = (kind: string) => path.indexOf(`{${kind.charAt(0).toLowerCase()}${kind.slice(1)}Reference}`);
  return kinds.filter((kind) => positionOf(kind) >= 0).toSorted((one, other) => positionOf(one) - positionOf(other));
}

/** The arguments of a method: by hand, or those of its endpoint, or for `getMany` those of `get`. Undefined if none is known. */
export function argumentsOf(call: string): Arguments | undefined {
  const written = byHand[call];
  if (written !== undefined) return written;
  if (call.endsWith(".getMany")) {
    const [given = []] = argumentsOf(call.replace(/Many$/, "")) ?? [];
    return [[given], "map", "concurrency"];
  }
  const endpoint = endpoints.find((one) => one.call === call);
  if (endpoint === undefined || endpoint.request.kind !== "none") return undefined;
  const references = kindsIn(endpoint).map((kind) => ref(kind));
  const filters = Object.keys(endpoint.query).filter((name) => name !== "cursor");
  return [references, ...filters, ...(endpoint.response.kind === "page" ? ["prefetch"] : [])];
}
