import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OrderlineInput } from "pod-partner";
import * as sdk from "pod-partner";
import { describe, expect, it, onTestFinished } from "vitest";
import { toJunit } from "../../src/cli/conform-report.ts";
import { costOf, rows } from "../../src/cli/conform-rows.ts";
import { type ConformSetup, isAsAssumed, runConform } from "../../src/cli/conform-run.ts";
import { createFastClock } from "../support/fast-clock.ts";

type Fields = Readonly<Record<string, unknown>>;

const baseUrl = "https://plain.example/v2";
const lookUpPath = "/utilities/lookup-order-reference-by-custom-identifier";
const secretKey = "sk_plain_1234567890";
const of = (kind: string, number: number) => `${kind}_${String(number).padStart(26, "0")}`;

/** The response of the look-up to a query; undefined where the service has none. */
type LookUp = (query: URLSearchParams, orders: readonly PlainOrder[]) => Response | undefined;

interface PlainOrder {
  readonly reference: string;
  readonly identifier: unknown;
  readonly address: Fields;
  addressNumber: number;
  readonly lines: readonly { readonly index: number; readonly quantity: number; canceledQuantity: number }[];
}

class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

/**
 * A service that has nothing but what the specification shows (parts 2, 4, 5, 7 and 8): no field that is not listed, no media, no order
 * status, and 404 for whatever else. Its look-up is given.
 */
function createPlainService(lookUp: LookUp) {
  const orders: PlainOrder[] = [];
  let addresses = 0;

  const product = {
    reference: of("Product", 1),
    name: "Slim case",
    status: "launched",
    availableQuantity: 10,
    layersModified: "2026-01-01T00:00:00Z",
    printModified: "2026-01-01T00:00:00Z",
    legacyItemSKU: "SLIM",
  };

  const create = (order: Fields) => {
    const { dropshipAddress, orderlines } = order as { dropshipAddress?: Fields; orderlines: readonly Fields[] };
    const known = [
      "storeReference",
      "shippingKind",
      "customIdentifier",
      "dropshipAddress",
      "dropshipMinimalShippingLevel",
      "orderlines",
    ];
    if (Object.keys(order).some((name) => !known.includes(name))) throw new Refusal(400, "unknown_input_error");
    if (dropshipAddress === undefined) throw new Refusal(400, "missing_address");
    checkAddress(dropshipAddress);
    if (orderlines.some(({ quantity }) => Number(quantity) < 1)) throw new Refusal(400, "unknown_input_error");
    if (orderlines.some(({ imageReference }) => imageReference === undefined))
      throw new Refusal(400, "missing_image_reference");
    addresses += 1;
    const lines = orderlines.map((line, position) => ({
      ...line,
      index: position + 1,
      quantity: Number(line.quantity),
      canceledQuantity: 0,
      shippedQuantity: 0,
    }));
    const placed = {
      reference: of("Order", orders.length + 1),
      identifier: order.customIdentifier,
      address: dropshipAddress,
      addressNumber: addresses,
      lines,
    };
    orders.push(placed);
    return { order: { reference: placed.reference } };
  };

  const checkAddress = (address: Fields) => {
    if (typeof address.email !== "string" || address.email === "")
      throw new Refusal(400, "invalid_address_missing_email");
    if (!/^[A-Z]{2}$/.test(String(address.countryCode))) throw new Refusal(400, "unknown_input_error");
  };

  const orderAt = (reference = "") => {
    const order = orders.find((one) => one.reference === reference);
    if (order === undefined) throw new Refusal(404, "not_found");
    return order;
  };

  const respond = (method: string, path: string, body: Fields): unknown => {
    const [, resource = "", reference, action] = path.split("/");
    switch (`${method} ${resource}${action === undefined ? "" : ` ${action}`}`) {
      case "POST auth validate":
      case "POST auth":
        return { message: "valid" };
      case "GET organization":
        return { organization: {} };
      case "GET stores":
        return { stores: [{ reference: of("Store", 1), integration: "api", legacyCode: "PLAIN" }], nextCursor: null };
      case "GET accounts":
        return { accounts: [{ reference: of("Account", 1) }], nextCursor: null };
      case "GET brands":
        return { brands: [{ reference: of("Brand", 1) }], nextCursor: null };
      case "GET products":
        if (reference === undefined) return { products: [product], nextCursor: null };
        return {
          product: {
            ...product,
            layers: { modified: product.layersModified },
            print: { modified: product.printModified },
            weightGrams: null,
            media: [],
          },
        };
      case "POST images":
        return { image: { reference: of("Image", 1) } };
      case "POST evidence":
        return { evidence: { reference: of("Evidence", orders.length + addresses + 1) } };
      case "GET claims":
        return { claims: [], nextCursor: null };
      case "GET perspectives":
        return { perspectives: [] };
      case "POST orders":
        return create(body.order as Fields);
      case "GET orders":
        if (reference === undefined)
          return { orders: orders.toReversed().map((order) => ({ reference: order.reference })), nextCursor: null };
        return {
          order: {
            reference,
            status: {},
            orderlines: orderAt(reference).lines,
            onHold: null,
            dropshipAddressReference: of("Address", orderAt(reference).addressNumber),
            legacyOrderCode: "PLAIN-1",
          },
        };
      case "POST orders cancel":
        for (const { index, canceledQuantity } of body.orderlines as { index: number; canceledQuantity: number }[]) {
          const line = orderAt(reference).lines[index - 1];
          if (line !== undefined) line.canceledQuantity = canceledQuantity;
        }
        return undefined;
      case "PUT orders dropship-address":
        checkAddress(body.dropshipAddress as Fields);
        addresses += 1;
        orderAt(reference).addressNumber = addresses;
        return undefined;
      case "POST quote":
        return { shippingOptions: [{ level: "basic", price: 395 }] };
      default:
        throw new Refusal(404, "not_found");
    }
  };

  const fetch = async (input: Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const { pathname, searchParams } = new URL(request.url);
    const isJson = request.headers.get("Content-Type")?.startsWith("application/json");
    const given: Fields = isJson ? ((await request.json()) as Fields) : {};
    const headers = { "X-RateLimit-Policy": '"default";q=3000;w=60', "X-RateLimit": '"default";r=2999;t=0' };
    if (request.headers.get("X-Service-Secret-Key") !== secretKey) {
      return Response.json({ code: "unauthorized", message: "no key" }, { status: 401 });
    }
    const found = pathname.endsWith(lookUpPath) ? lookUp(searchParams, orders) : undefined;
    if (found !== undefined) return found;
    try {
      const body = respond(request.method, pathname.replace("/v2", ""), given);
      return body === undefined ? new Response(null, { status: 204, headers }) : Response.json(body, { headers });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return Response.json({ code: error.code, message: "refused" }, { status: error.status, headers });
    }
  };
  return { fetch, orders };
}

/** The order that the look-up finds by the parameter. */
const byParameter = (query: URLSearchParams, orders: readonly PlainOrder[], parameter: string) =>
  orders.find(({ identifier }) => identifier === query.get(parameter));

const refuse = (status: number, code: string) => Response.json({ code, message: "refused" }, { status });

/** A look-up that the client expects. */
const asAssumed: LookUp = (query, orders) => {
  const order = byParameter(query, orders, "customIdentifier");
  return order === undefined ? refuse(404, "not_found") : Response.json({ orderReference: order.reference });
};

type Fetch = ReturnType<typeof createPlainService>["fetch"];

/** A service whose first page of products has only archived ones. */
const withoutLaunched =
  (fetch: Fetch): Fetch =>
  async (input, init) => {
    const { pathname, search } = new URL(input.url);
    if (pathname !== "/v2/products" || search !== "") return fetch(input, init);
    const archived = { reference: of("Product", 9), name: "Old case", status: "archived" };
    return Response.json({ products: [archived], nextCursor: "next" });
  };

async function measure(lookUp: LookUp, setup: Partial<ConformSetup> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "conform-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const service = createPlainService(lookUp);
  const clock = createFastClock(20, { kept: 120_000 });
  const journal = join(folder, "journal.json");
  const target = { sdk, baseUrl, secretKey, fetch: service.fetch, clock, journal };
  const report = await runConform({ ...target, ...setup });
  const path = join(folder, "assumptions.json");
  writeFileSync(path, JSON.stringify(report.file));
  /** A new client with the file. */
  const connect = () =>
    new sdk.PodPartner({ baseUrl, secretKey, fetch: service.fetch, clock: createFastClock(20), assumptions: path });
  return { ...service, report, connect };
}

const openLines = (orders: readonly PlainOrder[]) =>
  orders.flatMap(({ lines }) => lines).filter(({ quantity, canceledQuantity }) => canceledQuantity < quantity);

it("finds no difference in a service that has only what the specification shows", async () => {
  const { report, orders } = await measure(asAssumed);
  const verdicts = (wanted: string) =>
    report.findings.filter(({ verdict }) => verdict === wanted).map(({ row }) => row.id);
  expect(verdicts("differs")).toEqual([]);
  expect(isAsAssumed(report)).toBe(true);
  expect(
    report.findings.filter(({ verdict }) => verdict === "not tried").map(({ row, reason }) => [row.id, reason]),
  ).toEqual([
    ["field-of-productgroups", "GET /productgroups responded with 404 not_found"],
    ["field-of-packagings", "GET /packagings responded with 404 not_found"],
    ["fields-of-groups", "/packagings and /productgroups show no record"],
    ["perspective-fields", "there is no perspective"],
    ["page-size", "no list has more than a page"],
    ["cursor-twice", "no list has more than a page"],
    ["media", "the product has no media"],
    ["layer-images", "the product has no layer images"],
    ["files-need-key", "the product shows no URL"],
    ["layer-headers", "the product has no layer images"],
    ["identifier-scope", "only one store takes orders from the API"],
    ["absent-value", "no product without print was found"],
    ["field-of-address", "GET /addresses/Address_00000000000000000000000001 responded with 404 not_found"],
    ["returned-address", "GET /addresses/Address_00000000000000000000000001 responded with 404 not_found"],
    ["render-status", "needs --tokens"],
    ["render-created-status", "needs --tokens"],
    ["failed-render-file", "needs --failed-render"],
    ["retry-after", "needs --empty-bucket"],
    ["refused-tokens", "needs --empty-bucket"],
    ["claim-created-status", "needs --claims"],
    ["evidence-urls", "needs --claims"],
    ["retracted-decision", "needs --claims"],
  ]);
  expect(openLines(orders)).toEqual([]);
});

const lookUpRows = (ids: readonly string[]) => rows.filter(({ id }) => ids.includes(id));
const only = lookUpRows(["lookup-parameter", "lookup-field", "lookup-none", "canceled-in-lookup"]);

/** A look-up with names of its own, which does something with other parameters. */
const named =
  (parameter: string, field: string, other: (orders: readonly PlainOrder[]) => Response): LookUp =>
  (query, orders) => {
    if (!query.has(parameter)) return other(orders);
    const order = byParameter(query, orders, parameter);
    return order === undefined ? refuse(404, "not_found") : Response.json({ [field]: order.reference });
  };

const refused = () => refuse(400, "unknown_input_error");
const newest = (orders: readonly PlainOrder[]) => Response.json({ orderReference: orders.at(-1)?.reference ?? null });
const all = (orders: readonly PlainOrder[]) => Response.json({ orders, nextCursor: null });

describe("conform on a look-up", () => {
  it.each([
    ["its parameter", named("custom_identifier", "orderReference", refused), "custom_identifier", "orderReference"],
    ["its field", named("customIdentifier", "order_reference", refused), "customIdentifier", "order_reference"],
    ["both", named("custom-identifier", "number", refused), "custom-identifier", "number"],
    [
      "its parameter, and shows the newest order without it",
      named("id", "orderReference", newest),
      "id",
      "orderReference",
    ],
    ["its parameter, and lists all orders without it", named("identifier", "found", all), "identifier", "found"],
  ])("that names otherwise %s finds the names, and the client works with the file", async (_, lookUp, ...names) => {
    const { report, connect, orders } = await measure(lookUp, { only });
    const values = Object.fromEntries(report.findings.map(({ row, value }) => [row.id, value]));
    const [parameter, field] = names;
    expect(values).toEqual({
      "lookup-parameter": parameter,
      "lookup-field": field,
      "lookup-none": "404",
      "canceled-in-lookup": true,
    });
    const { customIdentifierParameter = "customIdentifier", orderReferenceField = "orderReference" } =
      report.file.assumptions;
    expect([customIdentifierParameter, orderReferenceField]).toEqual([parameter, field]);
    expect(isAsAssumed(report)).toBe(false);
    const [store] = await connect().organization.stores.list();
    if (store === undefined) expect.fail("no store");
    const line: OrderlineInput = {
      productReference: `Product_${"1".repeat(26)}`,
      imageReference: `Image_${"1".repeat(26)}`,
      quantity: 1,
    };
    const address = {
      firstname: "Ada",
      lastname: "Jansen",
      streetname: "Damrak",
      zipcode: "1012LG",
      city: "Amsterdam",
    };
    const dropshipAddress = { ...address, countryCode: "NL", email: "ada@example.com" };
    const order = { customIdentifier: "shop-1", storeReference: store.reference, shippingKind: "dropship" } as const;
    const ensure = () => connect().orders.ensure({ ...order, dropshipAddress, orderlines: [line] }, { compare: false });
    const { reference, existed } = await ensure();
    expect(existed).toBe(false);
    expect(await ensure()).toMatchObject({ reference, existed: true });
    expect(orders.filter(({ identifier }) => identifier === "shop-1")).toHaveLength(1);
  });

  it.each([
    ["whose parameter has an unlikely name", named("shopCode", "orderReference", refused)],
    ["that shows the newest order whatever is asked", (_: unknown, orders: readonly PlainOrder[]) => newest(orders)],
  ])("%s says that it differs and what to ask, in each run, also with its file", async (_, lookUp) => {
    const { report, orders } = await measure(lookUp);
    const differing = report.findings.filter(({ verdict }) => verdict === "differs");
    expect(differing.map(({ row, value }) => [row.id, value])).toEqual([
      ["lookup-parameter", "none of 14 likely names"],
    ]);
    expect(differing[0]?.follows).toMatch(/Ask your contact .* `assumptions\.customIdentifierParameter`/);
    expect(isAsAssumed(report)).toBe(false);
    expect(report.requests).toBeLessThanOrEqual(costOf({}).requests);
    expect(report.orders).toBeLessThanOrEqual(costOf({}).orders);
    expect(openLines(orders)).toEqual([]);
    const again = await measure(lookUp, { only, compare: report.file });
    expect(isAsAssumed(again.report)).toBe(false);
  });

  it("whose name was written into the file by hand is as the file says", async () => {
    const lookUp = named("shopCode", "orderReference", refused);
    const { report } = await measure(lookUp, { only });
    const file = { ...report.file, assumptions: { customIdentifierParameter: "shopCode" } };
    const again = await measure(lookUp, { only, compare: file });
    expect(again.report.findings.map(({ verdict }) => verdict)).toEqual(only.map(() => "as assumed"));
    expect(isAsAssumed(again.report)).toBe(true);
  });

  it.each([
    ["the key may not use", () => refuse(403, "forbidden")],
    ["does not exist", () => undefined],
  ])("that %s is not tried, and no success", async (_, lookUp) => {
    const { report } = await measure(lookUp, { only });
    expect(report.findings.map(({ verdict }) => verdict)).toEqual(only.map(() => "not tried"));
    expect(isAsAssumed(report)).toBe(false);
    expect(toJunit(report)).toContain('failures="0" errors="1" skipped="3"');
  });

  it("is tried with a product of a later page", async () => {
    const { report } = await measure(asAssumed, { only, fetch: withoutLaunched(createPlainService(asAssumed).fetch) });
    expect(report.findings.map(({ verdict }) => verdict)).toEqual(only.map(() => "as assumed"));
  });
});
