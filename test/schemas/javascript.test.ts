import type { PodPartner, RequestOptions, RequestValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { jpeg } from "../support/pictures.ts";
import { ref } from "../support/references.ts";
import { type Refusal, useRefusals } from "../support/refusals.ts";

/** Options without type checks, as a JavaScript program may give them. */
const untyped = (options: unknown) => options as never;
const order = { ...combinedOrder, customIdentifier: "shop-1001" };
const render = { compositionReference: ref("Composition"), imageReference: ref("Image") };

async function drain(iterable: AsyncIterable<unknown>) {
  for await (const _ of iterable);
}

/** One call for each way to take options. */
const calls: Readonly<Record<string, (partner: PodPartner, options: never) => PromiseLike<unknown>>> = {
  "a read": (partner, options) => partner.orders.get(ref("Order"), options),
  "orders.create": (partner, options) => partner.orders.create(combinedOrder, options),
  "orders.ensure": (partner, options) => partner.orders.ensure(order, options),
  "orders.ensureMany": (partner, options) => drain(partner.orders.ensureMany([order], options)),
  "a list": (partner, options) => partner.images.list(options).toArray(),
  "claims.list": (partner, options) => partner.claims.list(options).toArray(),
  "an upload": (partner, options) => partner.images.upload(jpeg, options),
  "renders.wait": (partner, options) => partner.renders.wait(ref("Render"), options),
  "renders.media": (partner, options) => partner.renders.media(ref("Render"), options),
  "renders.thumbnail with wait": (partner, options) =>
    partner.renders.thumbnail(ref("Render"), options && { ...(options as object), wait: true }),
  "renders.batch": (partner, options) => drain(partner.renders.batch([render], options)),
  "a conditional download": (partner, options) =>
    partner.catalog.products.media(ref("Product"), "a.png", options && { etag: '"1"', ...(options as object) }),
  "a download": (partner, options) => partner.catalog.products.media(ref("Product"), "a.png", options),
  "scenes.list": (partner, options) => partner.scenes.list(options),
  "perspectives.list": (partner, options) => partner.perspectives.list(options),
  request: (partner, options) => partner.request("GET", "/stores", options),
};

describe("invalid options reject with their names, before a request is sent", () => {
  const { refuses } = useRefusals();

  const faults: readonly [what: string, options: unknown, path: readonly string[]][] = [
    ["null as options", null, ["options"]],
    ["a misspelled option", { timeOut: 5 }, ["timeOut"]],
    ["an option of the client", { retries: 1 }, ["retries"]],
    ["null as the signal", { signal: null }, ["signal"]],
    ["an ordinary object as the signal", { signal: {} }, ["signal"]],
    ["a negative timeout", { deadline: -1 }, ["deadline"]],
    ["null as the deadline", { deadline: null }, ["deadline"]],
    ["a string as a number", { timeout: "5" }, ["timeout"]],
    ["null as the body", { body: null }, ["body"]],
    ["a string as the query", { query: "page=2" }, ["query"]],
  ];
  for (const [name, call] of Object.entries(calls)) {
    refuses(
      faults.map(
        ([what, options, path]): Refusal => [
          `${what} in ${name}`,
          (partner) => call(partner, untyped(options)),
          [path],
        ],
      ),
    );
  }
});

describe("plain JavaScript values in place of", () => {
  const { context, refuses, accepts } = useRefusals();
  const read = (options: unknown) => (partner: PodPartner) => partner.auth.validate(untyped(options));
  const post = (body: unknown) => (partner: PodPartner) => partner.request("POST", "/things", untyped({ body }));
  const upload = (options: unknown) => (partner: PodPartner) => partner.images.upload(jpeg, untyped(options));
  const batch = (options: unknown) => (partner: PodPartner) => drain(partner.renders.batch([], untyped(options)));
  const circle: Record<string, unknown> = {};
  circle.circle = circle;

  const layerImage = (options: unknown) => (partner: PodPartner) =>
    partner.catalog.products.layerImage(`${context.service.origin}/a.png`, untyped(options));
  const media = (options: unknown) => (partner: PodPartner) =>
    partner.catalog.products.media(ref("Product"), "a.png", untyped(options));

  refuses([
    ["a misspelled etag of a layer image", layerImage({ eTag: '"1"' }), [["eTag"]]],
    ["a misspelled signal of a layer image", layerImage({ etag: '"1"', sginal: 1 }), [["sginal"]]],
    ["a number as the etag", media({ etag: 5 }), [["etag"]]],
    ["an empty etag, as a database may return it", media({ etag: "" }), [["etag"]]],
    ["an etag with a line break", media({ etag: '"1"\n' + "x" }), [["etag"]]],
    ["a Date as lastModified", media({ lastModified: new Date(0) }), [["lastModified"]]],
    ["an earlier download's etag as a string", media('"1"'), [["options"]]],
    ["null as the list of orders", (partner) => drain(partner.orders.ensureMany(untyped(null))), [["rows"]]],
    ["a string as the list of orders", (partner) => drain(partner.orders.ensureMany(untyped("abc"))), [["rows"]]],
    [
      "an iterator that is none",
      (partner) => drain(partner.orders.ensureMany(untyped({ [Symbol.iterator]: 5 }))),
      [["rows"]],
    ],
    ["null as the list of renders", (partner) => drain(partner.renders.batch(untyped(null))), [["rows"]]],
    [
      "a map that is not a function",
      (partner) => drain(partner.orders.ensureMany([], untyped({ map: "sku" }))),
      [["map"]],
    ],
    ["null as map", (partner) => drain(partner.renders.batch([], untyped({ map: null }))), [["map"]]],
    [
      "a string as the concurrency",
      (partner) => drain(partner.renders.batch([], untyped({ concurrency: "4" }))),
      [["concurrency"]],
    ],
    ["a string as the body", post("abc"), [["body"]]],
    ["a list as the body", post([1]), [["body"]]],
    ["a circular body", post(circle), [["body"]]],
    ["a body with a bigint", post({ a: 1n }), [["body"]]],
    ["a number as the name of a header", read({ headers: [[5, "1"]] }), [["headers", 0]]],
    [
      "each header that is none, by its name or its place",
      read({
        headers: [
          ["a b", "1"],
          ["fine", "1"],
          [5, "1"],
          ["c", "1", "2"],
        ],
      }),
      [
        ["headers", "a b"],
        ["headers", 2],
        ["headers", 3],
      ],
    ],
    ["a list as options", read([]), [["options"]]],
    ["a number as the name of the call", read({ callId: 5 }), [["callId"]]],
    ["an unknown priority", read({ priority: "urgent" }), [["priority"]]],
    ["null in a query", read({ query: { a: null } }), [["query", "a"]]],
    ["an object in a query", read({ query: { a: { b: 1 } } }), [["query", "a"]]],
    ["an object in a list of a query", read({ query: { a: ["x", { b: 1 }] } }), [["query", "a"]]],
    ["a symbol in a query", read({ query: { a: Symbol("x") } }), [["query", "a"]]],
    [
      "a misspelled option of wait",
      (partner) => partner.renders.media(ref("Render"), untyped({ wait: { intervall: 5 } })),
      [["intervall"]],
    ],
    ["a string as wait", (partner) => partner.renders.media(ref("Render"), untyped({ wait: "yes" })), [["wait"]]],
    [
      "an onPending that is not a function",
      (partner) => partner.renders.wait(ref("Render"), untyped({ onPending: 5 })),
      [["onPending"]],
    ],
    ["a missing path", (partner) => partner.request("GET", untyped(undefined)), [["path"]]],
    ["an invalid schema", (partner) => partner.request("GET", "/stores", untyped({ schema: {} })), [["schema"]]],
    ["a limit that is not a number", (partner) => partner.images.list().toArray({ limit: Number.NaN }), [["limit"]]],
    ["a string as the limit", (partner) => partner.images.list().toArray({ limit: untyped("5") }), [["limit"]]],
    ...["connection", "content-length", "Expect", "keep-alive", "transfer-encoding", "upgrade"].map(
      (name): Refusal => [
        `the header ${name}, which is the connection's`,
        read({ headers: { [name]: "1" } }),
        [["headers", name]],
      ],
    ),
  ]);

  const queries: RequestOptions = { query: { page: 2, tags: ["a", "b"], all: true, none: undefined } };
  class Extra {
    readonly note = "gift";
  }
  class Money {
    readonly #cents: number;
    constructor(cents: number) {
      this.#cents = cents;
    }
    get amount() {
      return this.#cents / 100;
    }
    toJSON() {
      return { amount: this.amount };
    }
  }
  accepts([
    ["every kind of value in a query", read(queries)],
    ["the longest name of a call", read({ callId: "x".repeat(200) })],
    ["the highest priority", read({ priority: "high" })],
    ["an instance of a class as the body", post(new Extra())],
    ["values that write themselves as JSON in the body", post({ date: new Date(0), url: new URL("http://a.test/") })],
    ["objects without a prototype in the body", post({ list: [Object.create(null), null], none: undefined })],
    ["an instance whose class writes it as JSON", post({ money: new Money(5) })],
    ["a signal of another realm", read({ signal: Object.create(new AbortController().signal, {}) })],
  ]);

  it("describes the faults correctly", async () => {
    class Computed {
      readonly #brand = ref("Brand");
      get brandReference() {
        return this.#brand;
      }
    }
    const message = async (call: PromiseLike<unknown>) => String(await rejection(call));
    const { partner } = context;
    expect(await message(partner.auth.validate(untyped({ timeOut: 5 })))).toContain("timeOut: is an unknown option");
    expect(await message(partner.auth.validate(untyped({ maxRetries: 5 })))).toContain(
      "maxRetries: is an unknown option; did you mean `retry.retries`?",
    );
    expect(await message(partner.orders.list(untyped({ limit: 5 })).toArray())).toContain(
      "limit: is an unknown option; did you mean `toArray({ limit })`?",
    );
    const { issues } = (await rejection(
      partner.auth.validate(untyped(new AbortController().signal)),
    )) as RequestValidationError;
    expect(issues).toEqual([{ path: ["options"], message: "expected an object, not a signal: write `{ signal }`" }]);
    expect(await message(partner.orders.create(untyped({ ...order, gift: true })))).toContain(
      "order.gift: is not a known field of this request",
    );
    for (const [call, words] of [
      [read({ signal: 5 }), "signal: expected an AbortSignal, such as the `signal` of an AbortController"],
      [read({ callId: "" }), "callId: expected a text of 1 to 200 characters, without line breaks"],
      [read({ query: 5 }), "query: expected an object with names and values"],
      [read({ query: { a: {} } }), "query.a: expected a string, a number, a boolean or a list of these"],
      [post(5), "body: expected an object: the fields to add to the JSON body"],
      [post({ price: Number.NaN }), "body: cannot be written as JSON: price is NaN"],
      [post({ list: [1, { price: -Infinity }] }), "body: cannot be written as JSON: price is -Infinity"],
      [post({ lines: new Map([["a", 1]]) }), "body: cannot be written as JSON: lines is [object Map]"],
      [post({ lines: [new Set([1])] }), "body: cannot be written as JSON: 0 is [object Set]"],
      [post({ order: Promise.resolve({}) }), "body: cannot be written as JSON: order is [object Promise]"],
      [post({ bytes: new Uint8Array(2) }), "body: cannot be written as JSON: bytes is [object Uint8Array]"],
      [post({ tags: ["a", undefined] }), "body: cannot be written as JSON: tags has an element without a value"],
      [post({ tags: new Array(2) }), "body: cannot be written as JSON: tags has an element without a value"],
      [post({ note: () => "gift" }), "body: cannot be written as JSON: note is a function"],
      [post({ tags: [Symbol("a")] }), "body: cannot be written as JSON: 0 is a symbol"],
      [post(new Computed()), "body: cannot be written as JSON: it has `brandReference`, which JSON leaves out"],
      [post({ order: new Computed() }), "JSON: order has `brandReference`, which JSON leaves out: add a `toJSON`"],
      [post({ orders: [new (class extends Computed {})()] }), "JSON: 0 has `brandReference`, which JSON leaves out"],
      [post({ order: Object.create({ brandReference: ref("Brand") }) }), "JSON: order has `brandReference`"],
      [
        post({ order: Object.defineProperty({}, "brandReference", { value: ref("Brand") }) }),
        "JSON: order has `brandReference`",
      ],
      [read({ headers: new Computed() }), "headers: expected an object with names and values, `Headers`, a `Map`"],
      [read({ query: { name: "\ud800" } }), "name: must not contain lone surrogates"],
      [read({ query: { name: ["a", "\udc00"] } }), "name: must not contain lone surrogates"],
      [media({ etag: "" }), "etag: expected the `etag` of an earlier download"],
      [media({ lastModified: "" }), "lastModified: expected the `lastModified` of an earlier download"],
      [upload({ onProgress: 5 }), "onProgress: expected a function"],
      [upload({ onDownsize: 5 }), "onDownsize: expected a function"],
      [batch({ map: 5 }), "map: expected a function that makes an input of a row"],
      [batch({ concurrency: 0 }), "concurrency: expected a number from 1"],
    ] as const)
      expect(await message(call(partner))).toContain(words);
    expect(await message(partner.auth.validate({ headers: { "a b": "1" } }))).toContain(
      "headers.a b: is not a header that a request can carry: remove it, or correct its name or value",
    );
    const has = () => {
      throw new Error("not now");
    };
    expect(await message(partner.auth.validate(untyped(new Proxy({}, { has }))))).toContain(
      "options: cannot be checked: not now",
    );
    expect(await message(partner.request(untyped("TRACE"), "/stores"))).toContain(
      "method: expected one of GET, PUT, DELETE, PATCH, POST",
    );
    const { storeReference: _, ...without } = order;
    expect(await message(partner.orders.create(untyped(without)))).toContain(
      "order.storeReference: is required: a reference of kind Store",
    );
  });
});
