import type { ResponseValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection, useExchange } from "../support/exchange.ts";
import { ref } from "../support/references.ts";

const a = { reference: ref("Order", "a") };
const b = { reference: ref("Order", "b") };
const c = { reference: ref("Order", "c") };
const page = (orders: unknown, nextCursor?: unknown) => ({ body: { orders, nextCursor } });

describe("an incomplete list never ends as if it were complete (law 5)", () => {
  const { context } = useExchange();

  it.each<[string, unknown, string, string]>([
    ["a cursor that is a number", page([b], 3), "nextCursor", "expected a string or null"],
    ["a missing cursor", page([b]), "nextCursor", "is missing"],
    ["a cursor that is an object", page([b], {}), "nextCursor", "expected a string or null"],
    ["a cursor that no URL can carry", page([b], "\ud800"), "nextCursor", "expected a string or null"],
    ["a missing list", page(null, null), "orders", "expected an array, not null"],
  ])('but throws for %s, also with `responses: "report"`', async (_, response, field, message) => {
    const reported: unknown[] = [];
    const partner = context.connect({
      responses: "report",
      hooks: { onInvalidResponse: ({ issues }) => reported.push(issues[0]?.path) },
    });
    context.service.respond(page([a], "p2"), response as object);
    const given: unknown[] = [];
    const iterate = async () => {
      for await (const order of partner.orders.list()) given.push(order);
    };
    const error = (await rejection(iterate())) as ResponseValidationError;
    expect(error).toMatchObject({ name: "ResponseValidationError", endpoint: "GET /orders" });
    expect(error.issues).toEqual([{ path: [field], message }]);
    expect([given, reported]).toEqual([[a], [[field]]]);
  });

  it.each(["null", "[]", "7"])("but throws for a page that is %s", async (body) => {
    context.service.respond(page([a], "p2"), { headers: { "content-type": "application/json" }, body });
    expect(await rejection(context.partner.orders.list().toArray())).toMatchObject({
      name: "ResponseValidationError",
      issues: [{ path: ["orders"] }, { path: ["nextCursor"] }],
    });
  });

  const reason = new Error("the user left");

  it.each([
    ["before the caller asks for the next", 0],
    ["before the caller asks for the next", 1],
    ["before the caller asks for the next", 2],
    ["after the caller has asked for the next", 0],
    ["after the caller has asked for the next", 1],
    ["after the caller has asked for the next", 2],
  ])("but throws at an abort between two pages, %s, with %i prefetched", async (when, prefetch) => {
    const controller = new AbortController();
    const responses: Readonly<Record<string, object>> = { p2: page([b], "p3"), p3: page([c], null) };
    context.service.respondAlways(({ path }) => responses[path.split("cursor=")[1] ?? ""] ?? page([a], "p2"));
    const pages = context.partner.orders.list({ signal: controller.signal, prefetch }).pages();
    await pages.next();
    // Wait until the prefetched page is complete.
    for (let round = 0; round < 3; round++) await fetch(`${context.service.origin}/elsewhere`);
    if (when.startsWith("before")) controller.abort(reason);
    const next = rejection(pages.next());
    controller.abort(reason);
    expect(await next).toBe(reason);
  });

  it("but throws at an abort between two items of a page", async () => {
    const controller = new AbortController();
    context.service.respond(page([a, b, c], null));
    const given: unknown[] = [];
    const iterate = async () => {
      for await (const order of context.partner.orders.list({ signal: controller.signal })) {
        given.push(order);
        controller.abort(reason);
      }
    };
    expect(await rejection(iterate())).toBe(reason);
    expect(given).toEqual([a]);
  });

  it("but throws at an abort at its last item", async () => {
    const controller = new AbortController();
    context.service.respond(page([a], null));
    const iterate = async () => {
      for await (const _ of context.partner.orders.list({ signal: controller.signal })) controller.abort(reason);
    };
    expect(await rejection(iterate())).toBe(reason);
  });

  it.each([
    ["first", 0],
    ["first", 1],
    ["last", 0],
    ["last", 1],
  ])("but throws at an abort in the loop over its pages, at the %s page with prefetch %i", async (which, prefetch) => {
    const controller = new AbortController();
    context.service.respondAlways(({ path }) => (path.includes("cursor=") ? page([b], null) : page([a], "p2")));
    const given: unknown[] = [];
    const iterate = async () => {
      for await (const { items } of context.partner.orders.list({ signal: controller.signal, prefetch }).pages()) {
        given.push(...items);
        if (given.length === (which === "last" ? 2 : 1)) controller.abort(reason);
      }
    };
    expect(await rejection(iterate())).toBe(reason);
    expect(given).toEqual(which === "last" ? [a, b] : [a]);
  });
});
