import { getEventListeners } from "node:events";
import { PodPartner, type ProductReference } from "pod-partner";
import { createEmulator, createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { ChangingList, item, product } from "../support/changing-list.ts";
import { rejection } from "../support/exchange.ts";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { startStubService } from "../support/stub-service.ts";

const ids = ["1", "2", "3", "4", "5", "6", "7"];

/** A list of products before and after some changes, with the snapshot from before. */
async function changed() {
  const list = new ChangingList(ids.map((id) => product(id)));
  const { snapshot } = await list.connect().catalog.products.changes();
  list.entries = [product("8"), ...list.entries];
  list.update(ref("Product", "5"), { availableQuantity: 0 });
  list.remove(ref("Product", "2"));
  list.requests.length = 0;
  const text = JSON.stringify(snapshot);
  /** Checks that the old snapshot still gives every change. */
  const expectChanges = async () => {
    expect(JSON.stringify(snapshot)).toBe(text);
    list.meanwhile = () => undefined;
    const { added, changed, removed } = await list.connect().catalog.products.changes({ since: snapshot });
    expect(added).toStrictEqual([{ current: product("8") }]);
    expect(changed).toMatchObject([{ current: { name: "Case 5" }, fields: ["availableQuantity"] }]);
    expect(removed).toMatchObject([{ previous: { reference: ref("Product", "2") } }]);
  };
  return { list, snapshot, expectChanges };
}

const faults: readonly (readonly [string, () => Response])[] = [
  ["a 400", () => Response.json({ code: "invalid_cursor", message: "No." }, { status: 400 })],
  ["a 500", () => new Response("", { status: 500 })],
  ["a body that is not JSON", () => new Response("<html>")],
  ["a page without nextCursor", () => Response.json({ products: [] })],
  ["a page without products", () => Response.json({ nextCursor: null })],
  ["a product without a reference", () => Response.json({ products: [{ name: "Case" }], nextCursor: null })],
];

describe("a fault while products.changes reads", () => {
  // The four pages and the request that confirms the removal.
  const requests = [0, 1, 2, 3, 4];

  it.each(requests.flatMap((nth) => faults.map(([name, fault]) => [name, nth, fault] as const)))(
    "%s in response to request %i rejects, and the old snapshot stays valid",
    async (_, nth, fault) => {
      const { list, snapshot, expectChanges } = await changed();
      list.meanwhile = (request) => (request === nth ? fault() : undefined);
      const error = await rejection(list.connect().catalog.products.changes({ since: snapshot }));
      expect(error).toMatchObject({ name: expect.stringMatching(/Error$/), isRetryable: expect.any(Boolean) });
      expect(list.requests.length).toBeGreaterThan(nth);
      await expectChanges();
    },
  );

  it.each(requests)("a broken connection at request %i is retried", async (nth) => {
    const { list, snapshot } = await changed();
    const broken = () => Promise.reject(new TypeError("fetch failed"));
    list.meanwhile = (request) => (request === nth ? broken() : undefined);
    const partner = list.connect({ retry: { retries: 1, baseDelay: 0 } });
    const { added, removed } = await partner.catalog.products.changes({ since: snapshot });
    expect([added.length, removed.length]).toEqual([1, 1]);
  });

  it.each(requests)("an abort at request %i ends it with the caller's reason and leaves nothing open", async (nth) => {
    const { list, snapshot, expectChanges } = await changed();
    const controller = new AbortController();
    const reason = { why: "the process stops" };
    list.meanwhile = (request) => {
      if (request === nth) controller.abort(reason);
    };
    const call = list.connect().catalog.products.changes({ since: snapshot, signal: controller.signal });
    expect(await rejection(call)).toBe(reason);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    const sent = list.requests.length;
    await expectChanges();
    expect(sent).toBeLessThanOrEqual(nth + 2);
  });

  it('a product without a reference rejects with `responses: "report"`, other faults of a product pass', async () => {
    const { list, snapshot } = await changed();
    const partner = list.connect({ responses: "report" });
    list.update(ref("Product", "5"), { availableQuantity: null });
    const { changed: found } = await partner.catalog.products.changes({ since: snapshot });
    expect(found).toMatchObject([{ current: { availableQuantity: null }, fields: ["availableQuantity"] }]);
    list.entries = [...list.entries, product("9", { reference: null })];
    const error = await rejection(partner.catalog.products.changes({ since: snapshot }));
    expect(error).toMatchObject({ name: "ResponseValidationError", endpoint: "GET /products" });
    expect(error).toMatchObject({ issues: [{ path: ["products", 1, "reference"] }] });
  });

  it("does not begin with an aborted signal", async () => {
    const { list, snapshot } = await changed();
    const reason = new Error("never mind");
    const signal = AbortSignal.abort(reason);
    expect(await rejection(list.connect().catalog.products.changes({ since: snapshot, signal }))).toBe(reason);
    expect(list.requests).toEqual([]);
  });
});

describe("the options of products.changes", () => {
  it("have one deadline for all requests", async () => {
    const clock = createManualClock();
    const { list, snapshot } = await changed();
    // Each response takes 400 ms.
    list.meanwhile = (_, path) =>
      new Promise((resolve) => void clock.after(400, () => resolve(list.respond(`http://x/v2${path}`))));
    const partner = list.connect({ clock, timeout: 60_000 });
    const began = clock.now();
    let ended = Number.NaN;
    const call = rejection(partner.catalog.products.changes({ since: snapshot, deadline: 1_000 }));
    void call.then(() => {
      ended = clock.now() - began;
    });
    for (let step = 0; step < 30; step++) await clock.advance(100);
    expect(await call).toMatchObject({ name: "DeadlineError" });
    expect(ended).toBe(1_000);
    expect(list.requests).toHaveLength(3);
    expect(clock.pending).toBe(0);
  });

  it("apply to each request: headers to all of them, `query` to those of the list", async () => {
    const { list, snapshot } = await changed();
    const sent: string[] = [];
    const fetch = (request: Request, init?: RequestInit) => {
      sent.push(`${new Headers(init?.headers).get("x-trace")} ${new URL(request.url).searchParams.get("group")}`);
      return list.fetch(request);
    };
    const options = { since: snapshot, headers: { "X-Trace": "t1" }, query: { group: "cases" }, timeout: 1_000 };
    await list.connect({ fetch }).catalog.products.changes(options);
    expect(sent).toEqual([...Array(4).fill("t1 cases"), "t1 null"]);
  });

  it("let other calls go first: the priority is low by default", async () => {
    const clock = createManualClock();
    const { list } = await changed();
    const headers = { "X-RateLimit": '"default";r=0;t=1', "X-RateLimit-Policy": '"default";q=1;w=1' };
    const fetch = async (request: Request) => {
      const response = await list.fetch(request);
      for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
      return response;
    };
    const partner = list.connect({ fetch, clock });
    const order: string[] = [];
    const get = (id: string) => partner.catalog.products.get(ref("Product", id)).then(() => order.push("get"));
    await get("1");
    const all = [partner.catalog.products.changes().then(() => order.push("changes")), get("3"), get("4"), get("5")];
    for (let step = 0; step < 40; step++) await clock.advance(500);
    await Promise.all(all);
    expect(order).toEqual(["get", "get", "get", "get", "changes"]);
  });

  it("are in the error with the caller's line and the timeline of all requests", async () => {
    const { list, snapshot } = await changed();
    list.meanwhile = (request) => (request === 2 ? new Response("", { status: 500 }) : undefined);
    const error = await rejection(list.connect().catalog.products.changes({ since: snapshot }));
    expect(error).toMatchObject({
      endpoint: "GET /products",
      status: 500,
      timeline: ["200", "200", "500"].map((outcome) => ({ step: "attempt", outcome })),
      stack: expect.stringContaining("faults.test.ts"),
    });
  });

  it("have withResponse(), with the last successful response and the timeline of all requests", async () => {
    const { list, snapshot } = await changed();
    const call = list.connect().catalog.products.changes({ since: snapshot });
    const { data, response, timeline } = await call.withResponse();
    expect(data.added).toHaveLength(1);
    expect(response.status).toBe(200);
    expect(timeline.map(({ outcome }) => outcome)).toEqual(["200", "200", "200", "200", "404"]);
  });

  it("are in the timeline and in withResponse() in their order, also if each response arrives at once", async () => {
    const list = new ChangingList(ids.slice(0, 3).map((id) => product(id)));
    list.meanwhile = (request, path) => {
      const response = list.respond(`https://partner.example/v2${path}`);
      return new Response(response.body, { status: 200 + request, headers: response.headers });
    };
    const { response, timeline } = await list.connect().catalog.products.changes().withResponse();
    expect(timeline.map(({ outcome }) => outcome)).toEqual(["200", "201"]);
    expect(response.status).toBe(201);
  });
});

describe("changes of the emulator's catalog", () => {
  it("are those that its controls made, of products and of stock", async () => {
    const emulator = createEmulator({ pageSize: 3 });
    const partner = new PodPartner(emulator.clientOptions);
    const { catalog, warehouse } = partner;
    const [products, stock] = await Promise.all([catalog.products.changes(), warehouse.items.changes()]);
    const [first, second, third] = products.added.map(({ current }) => current.reference) as ProductReference[];
    if (first === undefined || second === undefined || third === undefined) expect.fail("the demo catalog is empty");
    emulator.updateProduct(first, { status: "archived" });
    emulator.updateProduct(second, { layers: true, availableQuantity: 7 });
    emulator.updateProduct(third, { weightGrams: 99 });
    const [{ current: held } = { current: undefined }] = stock.added;
    if (held === undefined) expect.fail("the emulator has no warehouse item");
    emulator.setStock(held.reference, { logicalQuantity: 5 });

    const next = await catalog.products.changes({ since: products.snapshot, details: true });
    expect(next.removed.map(({ previous }) => previous.reference)).toEqual([first]);
    expect(next.changed).toMatchObject([
      { current: { reference: second, media: expect.any(Array) }, fields: ["availableQuantity", "layersModified"] },
    ]);
    const { changed: items } = await warehouse.items.changes({ since: stock.snapshot });
    expect(items).toMatchObject([
      {
        fields: ["logicalQuantity"],
        previous: { logicalQuantity: held.logicalQuantity },
        current: { logicalQuantity: 5 },
      },
    ]);
  });
});

describe("a catalog of 20,000 products, over HTTP", () => {
  it("with 100 changes needs one request for each page and one for each removal", async () => {
    const count = 20_000;
    const pageSize = 100;
    const list = new ChangingList(
      Array.from({ length: count }, (_, n) => product(`${count - n}`)),
      pageSize,
    );
    await using service = await startStubService();
    service.respondAlways(async ({ path }) => ({ body: await list.respond(`${service.origin}${path}`).json() }));
    const partner = new PodPartner({ baseUrl: service.baseUrl, secretKey, pacing: false });
    const { added, snapshot } = await partner.catalog.products.changes();
    expect(added).toHaveLength(count);
    expect(JSON.stringify(snapshot).length / count).toBeLessThan(200);

    for (let n = 1; n <= 60; n++) list.update(ref("Product", `${n * 300}`), { availableQuantity: n + 10 });
    list.remove(...Array.from({ length: 20 }, (_, n) => ref("Product", `${n * 500 + 7}`)));
    list.entries = [...Array.from({ length: 20 }, (_, n) => product(`${count + 20 - n}`)), ...list.entries];
    const before = service.requests.length;
    service.respondAlways(async ({ path }) => {
      const response = list.respond(`${service.origin}${path}`);
      return { status: response.status, body: await response.json() };
    });
    const changes = await partner.catalog.products.changes({ since: JSON.parse(JSON.stringify(snapshot)) });
    expect([changes.added.length, changes.changed.length, changes.removed.length]).toEqual([20, 60, 20]);
    expect(changes.changed.every(({ fields }) => fields.join() === "availableQuantity")).toBe(true);
    // The last page is full, so an empty one follows it (specification 4.11, rule 4).
    expect(service.requests.length - before).toBe(count / pageSize + 1 + 20);
  });
});

describe("a fault while items.changes reads", () => {
  it.each([0, 1, 2, 3])("in response to request %i of two readings rejects", async (nth) => {
    const list = new ChangingList(["1", "2", "3"].map((id) => item(id)));
    const { snapshot } = await list.connect().warehouse.items.changes();
    list.remove(ref("Item", "2"));
    list.requests.length = 0;
    list.meanwhile = (request) => (request === nth ? new Response("", { status: 502 }) : undefined);
    expect(await rejection(list.connect().warehouse.items.changes({ since: snapshot }))).toMatchObject({ status: 502 });
    list.meanwhile = () => undefined;
    const { removed } = await list.connect().warehouse.items.changes({ since: snapshot });
    expect(removed).toMatchObject([{ previous: { reference: ref("Item", "2") } }]);
  });
});
