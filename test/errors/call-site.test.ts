import { inspect } from "node:util";
import { type PodPartner, PodPartnerError } from "pod-partner";
import { afterEach, describe, expect, it } from "vitest";
import { captureCallSite, framesOf } from "../../src/errors/call-site.ts";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

describe("the call site of an error", () => {
  it("is the stack from the caller of the SDK's method on", () => {
    const inside = () => within();
    const within = () => captureCallSite(inside);
    const method = () => inside();
    const [first, second] = framesOf(method()).split("\n");
    expect(first).toContain("method");
    expect(second).toContain("call-site.test.ts");
  });

  it("is left out when the program has no stack traces", () => {
    const { stackTraceLimit } = Error;
    try {
      Error.stackTraceLimit = 0;
      expect(framesOf(captureCallSite())).toBe("");
      expect(Error.stackTraceLimit).toBe(0);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  });
});

describe("an error of a call, in a program that changes `Error`", () => {
  const context = useService();
  const { prepareStackTrace } = Error;
  afterEach(() => {
    Error.prepareStackTrace = prepareStackTrace;
  });

  const calls: readonly [name: string, call: (partner: PodPartner) => Promise<unknown>][] = [
    ["one request", (partner) => partner.orders.get(ref("Order"))],
    ["a list", (partner) => partner.orders.list().toArray()],
    ["a wait", (partner) => partner.renders.wait(ref("Render"))],
  ];

  const deep: typeof calls = [
    ["orders.create", (partner) => partner.orders.create(combinedOrder)],
    ["orders.ensure, in its look-up", (partner) => partner.orders.ensure(combinedOrder, { lookFor: 1 })],
    ["renders.media", (partner) => partner.renders.media(ref("Render"))],
    ["renders.thumbnail", (partner) => partner.renders.thumbnail(ref("Render"))],
    ["orders.lookup", (partner) => partner.orders.lookup({ customIdentifier: "shop-1" })],
    ["request", (partner) => partner.request("GET", "/orders")],
  ];

  it.each([...calls, ...deep])("of %s, has the caller's line in its stack", async (_, call) => {
    context.service.respond({ status: 400, body: { code: "bad_request", message: "No." } });
    const error = await rejection(call(context.partner));
    expect(error).toMatchObject({ name: "BadRequestError", stack: expect.stringContaining("call-site.test.ts") });
  });

  /** How a caller waits for a call. Each is a function with a name of its own, to find it in the stack. */
  const ways: readonly (readonly [way: string, wait: (call: () => Promise<unknown>) => Promise<unknown>])[] = [
    [
      "await",
      async function ownCode(call) {
        await call();
      },
    ],
    [
      "return without await",
      async function ownCode(call) {
        await (() => call())();
      },
    ],
    [
      "a late await",
      async function ownCode(call) {
        const pending = call();
        await Promise.resolve();
        await pending;
      },
    ],
    [
      "Promise.all",
      async function ownCode(call) {
        await Promise.all([Promise.resolve(), call()]);
      },
    ],
    [
      "then, awaited",
      async function ownCode(call) {
        await call().then(() => undefined);
      },
    ],
    [
      "finally, awaited",
      async function ownCode(call) {
        await call().finally(() => undefined);
      },
    ],
  ];
  const all: typeof calls = [
    ...calls,
    ...deep,
    ["withResponse", (partner) => partner.orders.get(ref("Order")).withResponse()],
    ["a page without pages", (partner) => partner.organization.stores.list()],
    ["an invalid input", (partner) => partner.orders.get("Render_1" as never)],
    ["an invalid option", (partner) => partner.orders.get(ref("Order"), { timeout: -1 })],
    ["an upload", (partner) => partner.images.upload(new Uint8Array([1]))],
    [
      "a loop over many",
      async (partner) => {
        for await (const outcome of partner.orders.getMany([ref("Order")])) if (!outcome.ok) throw outcome.error;
      },
    ],
    [
      "a search",
      async (partner) => {
        for await (const _ of partner.compositions.search({ sceneReference: ref("Scene") })) return;
      },
    ],
    [
      "a batch whose token limits cannot be read",
      async (partner) => {
        const rows = [{ compositionReference: ref("Composition"), imageReference: ref("Image") }];
        for await (const outcome of partner.renders.batch(rows)) if (!outcome.ok) throw outcome.error;
      },
    ],
    ["the changes of a list", (partner) => partner.catalog.products.changes()],
  ];

  it.each(ways.flatMap(([way, wait]) => all.map(([name, call]) => [name, way, call, wait] as const)))(
    "of %s, has the caller's own function in its stack after %s",
    async (_, __, call, wait) => {
      context.service.respondAlways({ status: 400, body: { code: "bad_request", message: "No." } });
      const error = await rejection(wait(() => call(context.partner)));
      expect(PodPartnerError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ stack: expect.stringContaining("ownCode") });
      expect(String((error as Error).stack)).not.toMatch(/callerOf|task_queues/);
    },
  );

  it.each(calls)("of %s, is unchanged when stacks are lists of call sites", async (_, call) => {
    context.service.respond({ status: 404, body: { code: "not_found", message: "No." } });
    Error.prepareStackTrace = (_error, sites) => sites;
    const error = await rejection(call(context.partner));
    expect(PodPartnerError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ name: "NotFoundError", stack: expect.stringContaining("call-site.test.ts") });
    expect(inspect(error)).toContain("NotFoundError");
  });

  it.each(calls)("of %s, is unchanged when stacks cannot be read", async (_, call) => {
    context.service.respond({ status: 404, body: { code: "not_found", message: "No." } });
    Error.prepareStackTrace = () => {
      throw new TypeError("no stacks here");
    };
    expect(await rejection(call(context.partner))).toMatchObject({ name: "NotFoundError", code: "not_found" });
  });

  it.each(calls)("of %s, is unchanged when `Error` is frozen", async (_, call) => {
    context.service.respond({ status: 404, body: { code: "not_found", message: "No." } });
    const frozen = [
      [Error, "stackTraceLimit"],
      [Error.prototype, "name"],
      [Error.prototype, "message"],
    ] as const;
    for (const [object, property] of frozen) Object.defineProperty(object, property, { writable: false });
    try {
      expect(await rejection(call(context.partner))).toMatchObject({ name: "NotFoundError", code: "not_found" });
    } finally {
      for (const [object, property] of frozen) Object.defineProperty(object, property, { writable: true });
    }
  });

  it("does not change the stack of the caller's own abort reason", async () => {
    const reason = Object.freeze(new Error("mine"));
    const { stack } = reason;
    expect(await rejection(context.partner.orders.list({ signal: AbortSignal.abort(reason) }).toArray())).toBe(reason);
    expect(reason.stack).toBe(stack);
  });
});

describe("a method that is passed as a function", () => {
  const context = useService();

  it("works, and its errors name the caller", async () => {
    const { get } = context.partner.orders;
    const { list } = context.partner.organization.stores;
    context.service.respond({ status: 404, body: { code: "not_found", message: "No." } }, { body: { stores: [] } });
    const error = await rejection(get(ref("Order")));
    expect(error).toMatchObject({ name: "NotFoundError", stack: expect.stringContaining("call-site.test.ts") });
    expect(await list()).toEqual([]);
    expect(inspect(context.partner)).not.toMatch(/Function|scopeOf/);
  });
});
