import { sentAddress } from "../../support/orders.ts";
import { ref } from "../../support/references.ts";
import { ChangedOrder, type Happening, units } from "./changed-order.ts";

/** A true response. */
export interface TrueResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON value, bytes, or nothing. */
  readonly body: unknown;
}

/** A request as it arrived. */
export interface ModelRequest {
  readonly method: string;
  /** Below the base URL, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

interface Claim {
  readonly reference: string;
  readonly content: { shipmentReference: string; orderReference: string; claimlines: readonly Line[] };
  readonly created: string;
  retracted: string | null;
}
interface Line {
  readonly orderlineIndex: number;
  readonly quantity: number;
  readonly claimcategoryReference: string;
}

/** The order that a call changes, by the call's place in its case. */
export const changedBy = (number: number) => ref("Order", `c${number}`);

/** A complete picture, including the end of its format. */
export const picture = Uint8Array.from([
  ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  ...Array.from({ length: 40 }, (_, index) => index),
  ...[0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82],
]);

/** Milliseconds that a render takes. */
const renderTime = 90_000;

const limits = {
  "x-ratelimit-policy": '"default";q=3000;w=60, "uploads";q=5000;w=86400, "downloads";q=100000;w=86400',
  "x-ratelimit": '"default";r=2999;t=0, "uploads";r=4999;t=0, "downloads";r=99999;t=0',
};
const json = (body: unknown, status = 200): TrueResponse => ({
  status,
  headers: { ...limits, "content-type": "application/json" },
  body,
});
const empty: TrueResponse = { status: 204, headers: limits, body: undefined };
const refuse = (status: number, code: string) => json({ code, message: "The model refuses it." }, status);

/**
 * A small model of the service, written from the specification alone. It creates what each request asks for, also when a request
 * arrives twice, and counts.
 */
export class Model {
  /** References of the orders made, by custom identifier. */
  readonly orders = new Map<string, string[]>();
  /** The lines of each order that was made, by reference. */
  readonly #lines = new Map<string, readonly object[]>();
  /** The orders that calls change, by reference. */
  readonly #changed = new Map<string, ChangedOrder>();
  readonly #claims: Claim[] = [];
  /** How often the service carried out a request to an unknown endpoint, by its body. */
  readonly others = new Map<string, number>();
  readonly #now: () => number;
  readonly #began: number;
  #made = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#began = now();
    const created = this.#timestamp(-86_400_000);
    this.#claims.push({ reference: ref("Claim", "9"), content: existing, created, retracted: null });
  }

  /** The number of claims of the hostile tests with this quantity. */
  claimsOf(quantity: number): number {
    const equal = this.#claims.filter(({ content }) => content.claimlines[0]?.quantity === quantity);
    return equal.filter(({ content }) => content.orderReference !== existing.orderReference).length;
  }

  /** The order that a call changes. */
  changed(reference: string): ChangedOrder {
    const known = this.#changed.get(reference) ?? new ChangedOrder();
    this.#changed.set(reference, known);
    return known;
  }

  /** Lets something happen to the order of a request, if the request is about an order that a call changes. */
  happen({ path }: ModelRequest, what: Happening): void {
    const [, resource, id = ""] = path.split("/");
    if (resource === "orders" && /^Order_0+c\d$/.test(id)) this.changed(id).happen(what);
  }

  /** Carries a request out, and gives the response. */
  serve({ method, path, query, body }: ModelRequest): TrueResponse {
    const [, resource = "", id = "", action] = path.split("/");
    switch (`${method} /${resource}`) {
      case "POST /orders":
        return id === "" ? this.#createOrder(body) : this.#cancel(id, body);
      case "PUT /orders":
        return this.#replaceAddress(id, body);
      case "GET /addresses":
        return this.#readAddress(id);
      case "GET /orders":
        return id === "" ? this.#listOrders(query.get("cursor")) : this.#readOrder(id);
      case "GET /utilities":
        return this.#lookUp(query.get("customIdentifier") ?? "");
      case "POST /quote":
        return json({ shippingOptions: [{ level: "basic", price: 325 }] });
      case "POST /claim-item-issues":
        return this.#createClaim(body);
      case "GET /claims":
        return id === "" ? this.#listClaims() : this.#readClaim(id);
      case "POST /claims":
        return action === "retract" ? this.#retract(id) : refuse(404, "not_found");
      case "GET /renders":
        return this.#render(id, action);
      case "POST /images":
        return json({ image: { reference: ref("Image", "1") } });
      default:
        this.others.set(body, (this.others.get(body) ?? 0) + 1);
        return json({ done: true });
    }
  }

  #timestamp(offset = 0): string {
    return new Date(this.#now() + offset).toISOString();
  }

  #reference<K extends "Order" | "Claim">(kind: K) {
    this.#made += 1;
    return ref(kind, String(this.#made));
  }

  #createOrder(body: string): TrueResponse {
    const { customIdentifier, orderlines } = JSON.parse(body).order;
    const reference = this.#reference("Order");
    this.#lines.set(reference, orderlines);
    this.orders.set(customIdentifier, [...(this.orders.get(customIdentifier) ?? []), reference]);
    return json({ order: { reference } });
  }

  #lookUp(customIdentifier: string): TrueResponse {
    const [orderReference] = this.orders.get(customIdentifier) ?? [];
    return orderReference === undefined ? refuse(404, "not_found") : json({ orderReference });
  }

  #cancel(reference: string, body: string): TrueResponse {
    const { orderlines } = JSON.parse(body);
    const code = this.changed(reference).cancel(orderlines[0].canceledQuantity);
    return code === undefined ? empty : refuse(409, code);
  }

  #replaceAddress(reference: string, body: string): TrueResponse {
    const { dropshipAddress } = JSON.parse(body);
    const code = this.changed(reference).replaceAddress(dropshipAddress.streetname);
    return code === undefined ? empty : refuse(409, code);
  }

  /** The reference of an address ends in the number of its order's call, and its own number. */
  #readAddress(reference: string): TrueResponse {
    const [, number = "0", version = "0"] = /c(\d)v(\d+)$/.exec(reference) ?? [];
    const streetname = this.changed(changedBy(Number(number))).streetOf(Number(version));
    if (streetname === undefined) return refuse(404, "not_found");
    return json({ address: { reference, ...sentAddress, streetname } });
  }

  #readChanged(reference: string, { canceled, shipped, address }: ChangedOrder): TrueResponse {
    const quantities = { quantity: units, canceledQuantity: canceled, shippedQuantity: shipped };
    const orderlines = [{ index: 1, productReference: ref("Product", "1"), ...quantities, annotations: [] }];
    const dropshipAddressReference = ref("Address", `${reference.slice(-2)}v${address}`);
    const head = { reference, status: {}, onHold: null, legacyOrderCode: "H-1" };
    return json({ order: { ...head, orderlines, dropshipAddressReference } });
  }

  #readOrder(reference: string): TrueResponse {
    if (/c\d$/.test(reference)) return this.#readChanged(reference, this.changed(reference));
    const lines = this.#lines.get(reference);
    if (lines === undefined) return refuse(404, "not_found");
    const counts = { canceledQuantity: 0, shippedQuantity: 0, annotations: [] };
    const orderlines = lines.map((fields, position) => ({ index: position + 1, ...counts, ...fields }));
    return json({ order: { reference, status: {}, orderlines, onHold: null, legacyOrderCode: "H-1" } });
  }

  /** Three pages of two items. */
  #listOrders(cursor: string | null): TrueResponse {
    const page = Number(/^page-(\d)$/.exec(cursor ?? "")?.[1] ?? 0);
    const orders = [1, 2].map((number) => ({ reference: ref("Order", `${page}${number}`) }));
    return json({ orders, nextCursor: page < 2 ? `page-${page + 1}` : null });
  }

  #createClaim(body: string): TrueResponse {
    const { claim: content } = JSON.parse(body);
    const reference = this.#reference("Claim");
    this.#claims.push({ reference, content, created: this.#timestamp(), retracted: null });
    return json({ claim: { reference } });
  }

  #listClaims(): TrueResponse {
    const claims = this.#claims.map(({ reference, content, created, retracted }) => ({
      reference,
      orderReference: content.orderReference,
      status: retracted === null ? "pending" : "retracted",
      claimcategories: [{ reference: line.claimcategoryReference, name: "Damaged in transit" }],
      created,
      retracted,
      decided: null,
    }));
    return json({ claims, nextCursor: null });
  }

  #readClaim(id: string): TrueResponse {
    const claim = this.#claims.find(({ reference }) => reference === id);
    if (claim === undefined) return refuse(404, "not_found");
    const { reference, content, created, retracted } = claim;
    return json({
      claim: {
        reference,
        orderReference: content.orderReference,
        shipmentReference: content.shipmentReference,
        status: retracted === null ? "pending" : "retracted",
        created,
        retracted,
        decision: null,
        evidenceUrls: [],
        claimlines: content.claimlines.map(({ claimcategoryReference, ...rest }) => ({
          ...rest,
          productReference: ref("Product", "1"),
          claimcategory: { reference: claimcategoryReference, name: "Damaged in transit" },
          decision: null,
          evidenceUrls: [],
        })),
      },
    });
  }

  #retract(id: string): TrueResponse {
    const claim = this.#claims.find(({ reference }) => reference === id);
    if (claim === undefined) return refuse(404, "not_found");
    if (claim.retracted !== null) return refuse(409, "claim_not_pending");
    claim.retracted = this.#timestamp();
    return empty;
  }

  #render(reference: string, file: string | undefined): TrueResponse {
    const completed = this.#now() - this.#began >= renderTime;
    if (file !== undefined && completed)
      return { status: 200, headers: { ...limits, "content-type": "image/png" }, body: picture };
    if (file !== undefined) return { status: 202, headers: { ...limits, "retry-after": "30" }, body: undefined };
    const files = { media: { mimeType: "image/png", extension: "png", size: picture.length } };
    const status = completed ? "completed" : "pending";
    const compositionReference = ref("Composition", "1");
    const created = this.#timestamp(-1_000);
    return json({
      render: {
        reference,
        compositionReference,
        imageReference: ref("Image", "1"),
        status,
        created,
        ...(completed ? files : {}),
      },
    });
  }
}

const line: Line = { orderlineIndex: 1, quantity: 1, claimcategoryReference: ref("Claimcategory", "1") };
/** The content of a claim that exists from the start. */
const existing = { shipmentReference: ref("Shipment", "9"), orderReference: ref("Order", "9"), claimlines: [line] };
