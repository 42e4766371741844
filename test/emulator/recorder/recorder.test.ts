import { createEmulator, createManualClock, sampleImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { dropship, placeOrder, setUp } from "../support.ts";

const secretKey = "emulator-secret-key";

describe("a recorded request", () => {
  it("has its call, its messages, its time and the tokens that it left", async () => {
    const bench = setUp();
    const sent = await dropship(bench, { customIdentifier: "shop-1" });
    const { body } = await bench.post("/orders", sent);
    const [entry] = bench.emulator.requests.where({ on: "orders.create" });
    expect(entry).toMatchObject({
      id: 2,
      time: Date.parse("2026-11-02T09:00:00Z"),
      call: "orders.create",
      method: "POST",
      path: "/orders",
      status: 200,
      duration: 0,
      tokens: { default: 2998, uploads: 4999, downloads: 100_000 },
      fault: undefined,
      outcome: "responded",
      request: { headers: { "content-type": "application/json", "x-service-secret-key": "[redacted]" } },
      response: { headers: { "content-type": "application/json", "x-ratelimit": '"default";r=2998;t=0' } },
    });
    expect(entry?.request.body).toMatchObject({ type: "application/json", truncated: false });
    expect(entry?.request.body?.json()).toEqual(sent);
    expect(entry?.response?.body?.json()).toEqual(body);
    expect(entry?.response?.body?.size).toBe(Buffer.byteLength(JSON.stringify(body)));
  });

  it("has no call for an unknown path, and no body for a GET", async () => {
    const { emulator, get } = setUp();
    await get("/nowhere?a=1");
    expect(emulator.requests[0]).toMatchObject({ call: undefined, path: "/nowhere?a=1", status: 404 });
    expect(emulator.requests[0]?.request.body).toBeUndefined();
  });

  it("has the size and the type of an image, and not its bytes", async () => {
    const { emulator, upload, get, demo } = setUp();
    const bytes = sampleImage();
    await upload("/images", bytes);
    expect(emulator.requests[0]?.request.body).toMatchObject({
      type: "application/octet-stream",
      size: bytes.length,
      text: undefined,
      truncated: false,
    });
    const { body: product } = await get(`/products/${demo.products.slimCase}`);
    const { pathname } = new URL(product.product.media[0].url);
    const { body } = await get(pathname.slice("/v2".length));
    expect(emulator.requests[2]?.response?.body).toMatchObject({
      type: "image/png",
      size: body.length,
      text: undefined,
    });
  });

  it("has no body when the service did not read it", async () => {
    const { emulator } = setUp();
    const headers = { "Content-Type": "application/json" };
    await emulator.fetch(`${emulator.baseUrl}/orders`, { method: "POST", headers, body: "{}" });
    expect(emulator.requests[0]).toMatchObject({ status: 401, request: { body: undefined } });
  });

  it("has the time until a slow response, by the emulator's clock", async () => {
    const { emulator, clock, get } = setUp();
    emulator.faults.add({ fault: "slow", ms: 700 });
    const response = get("/stores");
    await clock.advance(100);
    expect(emulator.requests[0]).toMatchObject({ outcome: "open", duration: undefined, status: undefined });
    await clock.advance(600);
    await response;
    expect(emulator.requests[0]).toMatchObject({ outcome: "responded", duration: 700, fault: "slow", status: 200 });
  });

  it("is complete as JSON, with null where a value is missing", async () => {
    const { emulator, get } = setUp();
    emulator.faults.add({ fault: "drop" });
    await rejection(get("/nowhere"));
    expect(JSON.parse(JSON.stringify(emulator.requests))).toEqual([
      {
        id: 1,
        time: Date.parse("2026-11-02T09:00:00Z"),
        call: null,
        method: "GET",
        path: "/nowhere",
        status: null,
        duration: 0,
        tokens: { default: 2999, uploads: 5000, downloads: 100_000 },
        fault: "drop",
        code: null,
        subject: null,
        start: expect.any(Number),
        outcome: "dropped",
        service: { began: 0, ended: 0, status: 404 },
        responded: null,
        request: { headers: { "x-service-secret-key": "[redacted]" }, body: null },
        response: null,
      },
    ]);
  });
});

describe("emulator.requests", () => {
  it("selects by call, endpoint, method, path, status, fault and outcome", async () => {
    const bench = setUp();
    const { requests, faults } = bench.emulator;
    const reference = await placeOrder(bench);
    faults.add({ on: "orders.get", nth: 1, fault: "status", status: 503 });
    await bench.get(`/orders/${reference}`);
    await bench.get(`/orders/${reference}`);
    await bench.get("/orders?cursor=unknown");
    const ids = (filter: Parameters<typeof requests.where>[0]) => requests.where(filter).map(({ id }) => id);
    expect(ids({})).toEqual([1, 2, 3, 4, 5]);
    expect(ids({ on: "orders.create" })).toEqual([2]);
    expect(ids({ on: "GET /orders/{orderReference}" })).toEqual([3, 4]);
    expect(ids({ method: "POST" })).toEqual([1, 2]);
    expect(ids({ path: "/orders" })).toEqual([2, 5]);
    expect(ids({ path: "/orders?cursor=unknown" })).toEqual([5]);
    expect(ids({ on: "orders.get", status: 200 })).toEqual([4]);
    expect(ids({ status: 503, fault: "status" })).toEqual([3]);
    expect(ids({ outcome: "dropped" })).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["an unknown call", { on: "orders.creat" }, "The emulator has no endpoint orders.creat"],
    ["an unknown field", { stauts: 200 }, "stauts: is an unknown field"],
    ["a status as text", { status: "200" }, "status"],
    ["an unknown fault", { fault: "explode" }, "fault"],
  ])("refuses a filter with %s", (_case, filter, message) => {
    const { requests } = setUp().emulator;
    expect(() => requests.where(filter as never)).toThrow(TypeError);
    expect(() => requests.where(filter as never)).toThrow(message);
  });

  it("finds a request by its id, also after it was cleared", async () => {
    const { emulator, get } = setUp();
    await get("/orders");
    await get("/stores");
    expect(emulator.requests.get(2)?.path).toBe("/stores");
    emulator.requests.clear();
    expect(emulator.requests).toEqual([]);
    await get("/brands");
    expect([1, 2, 3, 4, 0, -1, 2.5].map((id) => emulator.requests.get(id)?.path)).toEqual([
      undefined,
      undefined,
      "/brands",
      ...Array(4).fill(undefined),
    ]);
  });

  it("keeps its bound of requests: the oldest are removed first", async () => {
    const { emulator, get } = setUp({ requestLog: { entries: 3 } });
    for (let request = 0; request < 10; request += 1) await get(`/orders/${request}`);
    expect(emulator.requests.map(({ path }) => path)).toEqual(["/orders/7", "/orders/8", "/orders/9"]);
    expect(emulator.requests.get(9)?.path).toBe("/orders/8");
    expect(emulator.requests.get(7)).toBeUndefined();
  });

  it("keeps 5,000 requests by default", async () => {
    const emulator = createEmulator({ clock: createManualClock() });
    for (let request = 0; request < 5_010; request += 1) await emulator.fetch(`${emulator.baseUrl}/${request}`);
    expect(emulator.requests).toHaveLength(5_000);
    expect(emulator.requests[0]?.path).toBe("/10");
  });

  it.each([{ entries: 0 }, { entries: 10_001 }, { bytes: 0 }, { entrys: 5 }])("refuses the bounds %j", (requestLog) => {
    expect(() => createEmulator({ requestLog })).toThrow("The emulator's options are not valid");
  });
});

describe("the key", () => {
  const visible = (emulator: ReturnType<typeof createEmulator>) =>
    JSON.stringify([emulator.requests, emulator.requests.toHar()]);

  it("does not appear when other headers, the query or the bodies have it", async () => {
    const { emulator, send } = setUp();
    emulator.faults.add({ fault: "body", body: { echo: `key=${secretKey}` } });
    await send("POST", `/orders?key=${secretKey}`, {
      headers: { "X-Copy": `Bearer ${secretKey}`, "Content-Type": "application/json" },
      body: JSON.stringify({ order: secretKey, escaped: encodeURIComponent(secretKey) }),
    });
    expect(emulator.requests[0]?.path).toBe("/orders?key=[redacted]");
    expect(emulator.requests[0]?.request.headers["x-copy"]).toBe("Bearer [redacted]");
    expect(emulator.requests[0]?.response?.body?.json()).toEqual({ echo: "key=[redacted]" });
    expect(visible(emulator)).not.toContain(secretKey);
  });

  it("does not appear when it is another key than the emulator's", async () => {
    const { emulator } = setUp();
    const headers = { "X-Service-Secret-Key": "real/production+key", "X-Copy": "real/production+key" };
    await emulator.fetch(`${emulator.baseUrl}/orders?key=real%2Fproduction%2Bkey`, { headers });
    expect(emulator.requests[0]?.request.headers["x-copy"]).toBe("[redacted]");
    expect(visible(emulator)).not.toContain("production");
  });

  it("does not appear when it has thousands of characters", async () => {
    const { emulator } = setUp();
    const key = "k".repeat(8_000);
    await emulator.fetch(emulator.baseUrl, { headers: { "X-Service-Secret-Key": key, "X-Copy": `a ${key}` } });
    expect(emulator.requests[0]?.request.headers["x-copy"]).toBe("a [redacted]");
  });

  it("does not appear in a header for other credentials", async () => {
    const { emulator } = setUp();
    await emulator.fetch(emulator.baseUrl, { headers: { Authorization: "Basic a2V5", Cookie: "session=1" } });
    expect(emulator.requests[0]?.request.headers).toMatchObject({ authorization: "[redacted]", cookie: "[redacted]" });
  });

  it.each([65_500, 65_520, 65_530, 69_605, 69_610, 69_615])(
    "does not appear where a long body is cut: at %i",
    async (at) => {
      const { emulator, post } = setUp();
      await post("/orders", { order: `${"a".repeat(at)}${secretKey}${"a".repeat(10_000)}` });
      const { text, truncated } = emulator.requests[0]?.request.body ?? {};
      expect([truncated, text?.length, text?.includes("em")]).toEqual([true, expect.any(Number), false]);
    },
  );
});
