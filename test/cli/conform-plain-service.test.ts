import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as sdk from "pod-partner";
import { expect, it, onTestFinished } from "vitest";
import { runConform } from "../../src/cli/conform-run.ts";
import { createFastClock } from "../support/fast-clock.ts";

type Fields = Readonly<Record<string, unknown>>;

const baseUrl = "https://plain.example/v2";
const secretKey = "sk_plain_1234567890";
const of = (kind: string, number: number) => `${kind}_${String(number).padStart(26, "0")}`;

interface PlainOrder {
  readonly reference: string;
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
 * A service that has nothing but what the specification shows (parts 2, 4, 5, 7 and 8): no look-up parameter, no field that is not listed,
 * no media, no order status, and 404 for whatever else.
 */
function createPlainService() {
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
    const { pathname } = new URL(request.url);
    const isJson = request.headers.get("Content-Type")?.startsWith("application/json");
    const given: Fields = isJson ? ((await request.json()) as Fields) : {};
    const headers = { "X-RateLimit-Policy": '"default";q=3000;w=60', "X-RateLimit": '"default";r=2999;t=0' };
    if (request.headers.get("X-Service-Secret-Key") !== secretKey) {
      return Response.json({ code: "unauthorized", message: "no key" }, { status: 401 });
    }
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

it("finds no difference in a service that has only what the specification shows", async () => {
  const folder = mkdtempSync(join(tmpdir(), "conform-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { fetch, orders } = createPlainService();
  const clock = createFastClock(20, { kept: 120_000 });
  const report = await runConform({ sdk, baseUrl, secretKey, fetch, clock, journal: join(folder, "journal.json") });
  const verdicts = (wanted: string) =>
    report.findings.filter(({ verdict }) => verdict === wanted).map(({ row }) => row.id);
  expect(verdicts("differs")).toEqual([]);
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
    ["lookup-parameter", expect.stringMatching(/^none of 12 likely names finds a new order/)],
    ["lookup-field", expect.stringMatching(/^none of 12 likely names finds a new order/)],
    ["lookup-none", expect.stringMatching(/^none of 12 likely names finds a new order/)],
    ["identifier-scope", "only one store takes orders from the API"],
    ["absent-value", "no product without print was found"],
    ["field-of-address", "GET /addresses/Address_00000000000000000000000001 responded with 404 not_found"],
    ["returned-address", "GET /addresses/Address_00000000000000000000000001 responded with 404 not_found"],
    ["canceled-in-lookup", expect.stringMatching(/^none of 12 likely names finds a new order/)],
    ["render-status", "needs --tokens"],
    ["render-created-status", "needs --tokens"],
    ["failed-render-file", "needs --failed-render"],
    ["retry-after", "needs --empty-bucket"],
    ["refused-tokens", "needs --empty-bucket"],
    ["claim-created-status", "needs --claims"],
    ["evidence-urls", "needs --claims"],
    ["retracted-decision", "needs --claims"],
  ]);
  expect(
    orders.flatMap(({ lines }) => lines).filter(({ quantity, canceledQuantity }) => canceledQuantity < quantity),
  ).toEqual([]);
});
