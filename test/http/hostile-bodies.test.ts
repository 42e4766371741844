import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import type { ConflictError, PodPartnerError } from "pod-partner";
import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../src/http/endpoint.ts";
import { Paginator } from "../../src/pagination/paginator.ts";
import { endpoints } from "../support/endpoints.ts";
import { rejection } from "../support/exchange.ts";
import { argumentsOf, methodOf } from "../support/methods.ts";
import { combinedOrder } from "../support/orders.ts";
import { useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { transports } from "../support/transports.ts";

const reference = ref("Order");
const order = { reference, status: {}, orderlines: [], onHold: null, legacyOrderCode: "DEMO-1" };
const text = JSON.stringify({ order });
const orderWith = (later: string) => text.replace('"status"', () => `"later":${later},"status"`);

/** JSON of this depth. To parse the deepest one takes a second. */
const nestedBy = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const nested = nestedBy(100_000);

/** The responses with a `Retry-After`, and the endpoints whose calls end with them. A creation is looked up after a 503. */
const headsWithRetryAfter = [
  { status: 429, name: "RateLimitError", of: () => true },
  { status: 503, name: "ServerError", of: ({ repeat }: Endpoint) => repeat === "safe" },
  { status: 202, name: "NotReadyError", of: ({ response }: Endpoint) => response.kind === "binary" },
];

describe.each(transports)("a body from the wire over $name", ({ over }) => {
  const context = useService(over);
  const json = { "content-type": "application/json" };
  const get = () => context.partner.orders.get(reference);

  it("may start with a byte order mark", async () => {
    context.service.respond({ headers: json, body: `\ufeff${text}` });
    expect(await get()).toEqual(order);
  });

  it("may be compressed", async () => {
    context.service.respond({ headers: { ...json, "content-encoding": "gzip" }, body: gzipSync(text) });
    expect(await get()).toEqual(order);
  });

  it.each([
    // `fetch` returns the part that it could decompress, which is not JSON. `nodeTransport` reports that the rest is missing.
    ["compressed and cut in half", gzipSync(text).subarray(0, 40), "gzip", /^(ResponseValidation|Connection)Error$/],
    ["uncompressed with a Content-Encoding", text, "gzip", "ConnectionError"],
    ["empty", "", "identity", "ResponseValidationError"],
    ["null", "null", "identity", "ResponseValidationError"],
    ["a number", "1e999", "identity", "ResponseValidationError"],
    ["nested a hundred thousand times", "[".repeat(100_000), "identity", "ResponseValidationError"],
    ["complete, and nested a hundred thousand times", nested, "identity", "ResponseValidationError"],
    [
      "an order with a field that is nested 5,001 times",
      orderWith(nestedBy(5_000)),
      "identity",
      "ResponseValidationError",
    ],
    ["not UTF-8", Uint8Array.from([0x22, 0xc3, 0x28, 0x22]), "identity", "ResponseValidationError"],
  ])("causes one typed error when it is %s", async (_, body, encoding, name) => {
    context.service.respond({ headers: { ...json, "content-encoding": encoding }, body });
    expect(await rejection(get())).toMatchObject({ name: expect.stringMatching(name) });
    expect(context.service.requests).toHaveLength(1);
  });

  it("is returned with a field that is nested a thousand times, or has many brackets in its text or side by side", async () => {
    for (const later of [nestedBy(1_000), JSON.stringify(`\\"${"[{".repeat(10_000)}`), `[${"{},".repeat(10_000)}[]]`]) {
      context.service.respond({ headers: json, body: orderWith(later) });
      expect(await get()).toEqual({ ...order, later: JSON.parse(later) });
    }
  });

  it.each(
    headsWithRetryAfter.flatMap(({ status, name, of }) =>
      endpoints.filter(of).map(({ call }) => ({ status, name, call })),
    ),
  )("of a $status may be lost: $call is a $name with its Retry-After", async ({ status, name, call }) => {
    const headers = { ...json, "content-encoding": "gzip", "retry-after": "5" };
    context.service.respond({ status, headers, body: "not compressed" });
    const [given = []] = argumentsOf(call) ?? [];
    // The URL of a file has the origin of the service.
    const here = (one: unknown) =>
      typeof one === "string" ? one.replace("http://partner.test", context.service.baseUrl) : one;
    const result = methodOf(context.partner, call)(...given.map(here));
    const error = await rejection(result instanceof Paginator ? result.toArray() : (result as Promise<unknown>));
    expect(error).toMatchObject({ name, status, retryAfter: 5_000 });
    expect(context.service.requests).toHaveLength(1);
  });

  it("is harmless data when its keys are hostile", async () => {
    const hostile = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"then":"x","toString":7';
    context.service.respond({ headers: json, body: text.replace('"status"', `${hostile},"status"`) });
    const data = await get();
    expect(Object.hasOwn(data, "__proto__")).toBe(true);
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
    expect(data).toMatchObject({ reference, toString: 7 });
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  it("is harmless data in an error, too", async () => {
    const body = '{"__proto__":{"code":"stolen","polluted":1},"constructor":{"name":"x"},"then":1,"message":"No."}';
    context.service.respond({ status: 409, headers: json, body });
    const error = await rejection(get());
    expect(error).toMatchObject({ name: "ConflictError", message: expect.stringContaining("No.") });
    expect((error as PodPartnerError).code).toBeUndefined();
    expect(Reflect.get({}, "polluted")).toBeUndefined();
    expect(() => JSON.stringify(error)).not.toThrow();
  });

  it.each([
    [1_000, "c"],
    [100_000, undefined],
  ])(
    "causes one typed error, which can be printed, when the body of an error is nested %d times",
    async (depth, code) => {
      const body = `{"code":"c","message":"No.","x":${nestedBy(depth)}}`;
      context.service.respond({ status: 409, headers: json, body });
      const error = await rejection(get());
      expect(error).toMatchObject({ name: "ConflictError", code });
      expect(() => [
        JSON.stringify(error),
        JSON.stringify((error as ConflictError).response),
        inspect(error),
      ]).not.toThrow();
    },
  );

  it("does not hide that the response to an order was lost", async () => {
    context.service.respond(
      { status: 500, headers: json, body: nested },
      { headers: json, body: JSON.stringify({ orderReference: reference }) },
    );
    const placed = await context.partner.orders.create({ ...combinedOrder, customIdentifier: "shop-1001" });
    expect(placed).toEqual({ reference, customIdentifier: "shop-1001", existed: false, recovered: true });
  });

  it("is harmless when an unread page has a hostile cursor or field", async () => {
    const body = '{"orders":[],"nextCursor":null,"__proto__":{"nextCursor":"again"}}';
    context.service.respond({ headers: json, body });
    expect(await context.partner.orders.list().toArray()).toEqual([]);
    expect(context.service.requests).toHaveLength(1);
  });
});
