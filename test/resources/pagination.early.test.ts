import { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { cursorAtEnd } from "../../src/pagination/early-cursor.ts";
import { rejection, useExchange } from "../support/exchange.ts";
import { collectGarbage } from "../support/garbage.ts";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const a = { reference: ref("Order", "a") };
const b = { reference: ref("Order", "b") };
const json = { "content-type": "application/json" };
const text = (body: string) => ({ headers: json, body });
const last = { body: { orders: [b], nextCursor: null } };

describe("the cursor at the end of a page's text", () => {
  it.each([
    ['{"orders":[],"nextCursor":"p2"}', "p2"],
    ['{"nextCursor":""}', ""],
    [' { "orders" : [ ] ,\n "nextCursor" :\t"a+b/c==" } \n', "a+b/c=="],
    ['{"orders":[{"nextCursor":"p1"}],"nextCursor":"p2"}', "p2"],
    [`{"orders":[${'{"nextCursor":"p1"},'.repeat(500)}{}],"nextCursor":"é"}`, "é"],
  ])("is read from %s", (page, cursor) => {
    expect(JSON.parse(page).nextCursor).toBe(cursor);
    expect(cursorAtEnd(page)).toBe(cursor);
  });

  it.each([
    '{"orders":[],"nextCursor":null}',
    '{"orders":[],"nextCursor":2}',
    '{"orders":[],"nextCursor":"p\\"2"}',
    '{"orders":[],"nextCursor":"\\u00e9"}',
    '{"nextCursor":"p2","orders":[]}',
    '{"nextCursor":null,"last":{"nextCursor":"p1"}}',
    '{"nextCursor":null,"orders":[{"nextCursor":"p1"}]}',
    '{"nextCursor":null,"note":",\\"nextCursor\\":\\"p1\\"}"}',
    `{"nextCursor":null,"note":"${"\\\\".repeat(480)},\\"nextCursor\\":\\"p1\\"}"}`,
    `{"orders":[],"nextCursor":"${"p".repeat(2_000)}"}`,
    '"nextCursor":"p2"}',
    "",
  ])("is left to the parser in %s", (page) => {
    expect(cursorAtEnd(page)).toBeUndefined();
  });

  it("does not keep the text in memory", () => {
    const pageOf = (cursor: number) =>
      Buffer.from(`{"pad":"${"x".repeat(1_000_000)}","nextCursor":"a-cursor-of-some-length-${cursor}"}`).toString();
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const cursors = Array.from({ length: 50 }, (_, cursor) => cursorAtEnd(pageOf(cursor)));
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
    expect(cursors.at(-1)).toBe("a-cursor-of-some-length-49");
  });
});

describe("a list requests the next page before it parses the current one", () => {
  const { context } = useExchange();
  const paths = () => context.service.requests.map(({ path }) => path);

  it("if the text of the page ends with the cursor", async () => {
    // The page cannot be parsed, and the next page was requested.
    const second = Promise.withResolvers<void>();
    context.service.respond(text('{"orders":[no],"nextCursor":"p2"}'), () => {
      second.resolve();
      return last;
    });
    expect(await rejection(context.partner.orders.list().toArray())).toMatchObject({ name: "ResponseValidationError" });
    await second.promise;
    expect(paths()).toEqual(["/v2/orders", "/v2/orders?cursor=p2"]);
  });

  it("but not with prefetch 0", async () => {
    context.service.respond(text('{"orders":[no],"nextCursor":"p2"}'));
    const list = context.partner.orders.list({ prefetch: 0 });
    expect(await rejection(list.toArray())).toMatchObject({ name: "ResponseValidationError" });
    await context.partner.auth.validate().catch(() => undefined);
    expect(paths()).toEqual(["/v2/orders", "/v2/auth/validate"]);
  });

  it("but not while the caller works on the page before, with one page ahead", async () => {
    context.service.respondAlways(({ path }) => {
      const page = Number(path.split("cursor=")[1] ?? 1);
      return { body: { orders: [{ reference: ref("Order", String(page)) }], nextCursor: String(page + 1) } };
    });
    const pages = context.partner.orders.list().pages();
    await pages.next();
    // By then, the response with the second page has arrived.
    for (let round = 0; round < 5; round += 1) await fetch(`${context.service.origin}/elsewhere`);
    expect(paths().filter((path) => path !== "/elsewhere")).toEqual(["/v2/orders", "/v2/orders?cursor=2"]);
    await pages.return();
  });

  it("but not after a page that was prefetched and is not valid", async () => {
    const { baseUrl, origin } = context.service;
    let requests = 0;
    const hooks = {
      onRequest: () => {
        requests += 1;
      },
    };
    const partner = new PodPartner({ baseUrl, secretKey, hooks });
    const first = text(`{"orders":[${JSON.stringify(a)}],"nextCursor":"p2"}`);
    context.service.respond(first, text('{"orders":[no],"nextCursor":"p3"}'));
    const pages = partner.orders.list().pages();
    await pages.next();
    // By then, the response with the second page has arrived.
    for (let round = 0; round < 5; round += 1) await fetch(`${origin}/elsewhere`);
    expect(await rejection(pages.next())).toMatchObject({ name: "ResponseValidationError" });
    expect(requests).toBe(2);
  });

  it.each([
    ["first", '{"nextCursor":"p2","orders":[{"reference":"a"}]}'],
    ["with an escape", '{"orders":[{"reference":"a"}],"nextCursor":"p\\u0032"}'],
    ["last", '{"orders":[{"reference":"a"}],"nextCursor":"p2"}'],
  ])("and has the same items and requests with the cursor %s", async (_, page) => {
    context.service.respond(text(page.replace('"a"', JSON.stringify(a.reference))), last);
    expect(await context.partner.orders.list().toArray()).toEqual([a, b]);
    expect(paths()).toEqual(["/v2/orders", "/v2/orders?cursor=p2"]);
  });

  it("and reports a repeated cursor after the items before it", async () => {
    context.service.respondAlways(() => text(`{"orders":[${JSON.stringify(a)}],"nextCursor":"same"}`));
    const given: unknown[] = [];
    const iterate = async () => {
      for await (const order of context.partner.orders.list()) given.push(order);
    };
    expect(await rejection(iterate())).toMatchObject({ name: "CursorLoopError" });
    expect(given).toEqual([a]);
    expect(paths()).toEqual(["/v2/orders", "/v2/orders?cursor=same"]);
  });
});
