import { describe, expect, it } from "vitest";
import { address, dropship, problem, setUp, unknownReference } from "../support.ts";

describe("authentication", () => {
  it("responds with 401, an error object and no rate-limit headers when the key is missing or wrong", async () => {
    const { emulator } = setUp();
    for (const headers of [{}, { "X-Service-Secret-Key": "another" }]) {
      const response = await emulator.fetch(`${emulator.baseUrl}/orders`, { headers });
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({ code: "unauthorized", message: expect.any(String) });
      expect(response.headers.has("X-RateLimit")).toBe(false);
    }
  });

  it("uses no token for a request without a key", async () => {
    const { emulator, get } = setUp({ limits: { default: { quota: 1, window: 60_000 } } });
    await emulator.fetch(`${emulator.baseUrl}/orders`);
    expect((await get("/orders")).status).toBe(200);
  });

  it("validates a key", async () => {
    const { send } = setUp();
    expect(await send("POST", "/auth/validate")).toMatchObject({ status: 200, body: { message: expect.any(String) } });
  });
});

describe("routing", () => {
  it.each([
    ["GET", "/nowhere"],
    ["DELETE", "/orders"],
    ["GET", "/orders/"],
    ["GET", "/products/%"],
  ])("responds with 404 to %s %s", async (method, path) => {
    const { send } = setUp();
    expect(problem(await send(method, path))).toEqual({ status: 404, code: "not_found" });
  });

  it("responds with 404 outside the base URL's path", async () => {
    const { emulator } = setUp();
    const headers = { "X-Service-Secret-Key": emulator.secretKey };
    expect((await emulator.fetch("http://emulator.test/v1/orders", { headers })).status).toBe(404);
  });

  it.each([
    "/addresses/Address",
    "/claims/Claim",
    "/compositions/Composition",
    "/evidence/Evidence",
    "/orders/Order",
    "/perspectives/Perspective",
    "/products/Product",
    "/renders/Render",
    "/scenes/Scene",
    "/shipments/Shipment",
  ])("responds with 404 to %s of an unknown reference, and 400 to one of another form", async (stem) => {
    const { get } = setUp();
    expect(problem(await get(`${stem}_${"0".repeat(26)}`))).toEqual({ status: 404, code: "not_found" });
    expect(problem(await get(`${stem}_short`))).toEqual({ status: 400, code: "unknown_input_error" });
  });
});

describe("input", () => {
  it("with unknown or repeated query parameters is refused", async () => {
    const { get } = setUp();
    for (const query of ["page=2", "cursor=a&cursor=b", "cursor=nonsense"]) {
      expect(problem(await get(`/orders?${query}`))).toEqual({ status: 400, code: "unknown_input_error" });
    }
  });

  it("with a cursor of another list is refused", async () => {
    const { get } = setUp({ seed: { orders: 3 }, pageSize: 2 });
    const { nextCursor } = (await get("/orders")).body;
    expect(problem(await get(`/products?cursor=${nextCursor}`)).code).toBe("unknown_input_error");
  });

  it("with a look-up without its query is refused", async () => {
    const { get } = setUp();
    expect(problem(await get("/lookup-composition")).code).toBe("unknown_input_error");
  });

  it("with a body of another type, with invalid JSON or with other fields is refused", async () => {
    const bench = setUp();
    const json = { headers: { "Content-Type": "application/json" } };
    const valid = await dropship(bench);
    const responses = [
      await bench.send("POST", "/orders", { headers: { "Content-Type": "text/plain" }, body: JSON.stringify(valid) }),
      await bench.send("POST", "/orders", { ...json, body: "{" }),
      await bench.send("POST", "/orders", { ...json, body: "[]" }),
      await bench.post("/orders", { ...valid, dryRun: true }),
      await bench.post("/orders", { order: { ...valid.order, color: "red" } }),
      await bench.post("/orders", { order: { ...valid.order, dropshipAddress: { ...address, planet: "Mars" } } }),
      await bench.post("/orders", {}),
    ];
    for (const response of responses) expect(problem(response)).toEqual({ status: 400, code: "unknown_input_error" });
  });

  it.each([
    ["a byte that no character begins with", [0xff]],
    ["a lone continuation byte", [0x80]],
    ["half of a character", [0xc3]],
    ["an encoded surrogate", [0xed, 0xa0, 0x80]],
  ])("with %s is refused, because it is not UTF-8", async (_case, bytes) => {
    const bench = setUp();
    const order = { ...(await dropship(bench)).order, customIdentifier: "marker" };
    const [before = "", after = ""] = JSON.stringify({ order }).split("marker");
    const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
    const headers = { "Content-Type": "application/json" };
    const response = await bench.send("POST", "/orders", { headers, body });
    expect(problem(response)).toEqual({ status: 400, code: "unknown_input_error" });
  });

  it("with several faults is refused with the path of each", async () => {
    const bench = setUp();
    const order = {
      ...(await dropship(bench)).order,
      orderlines: [{ productReference: unknownReference("Item"), quantity: 0 }],
    };
    const { message } = (await bench.post("/orders", { order })).body;
    expect(message).toContain("order.orderlines.0.productReference");
    expect(message).toContain("order.orderlines.0.quantity");
  });
});

describe("aborting", () => {
  it("rejects with the signal's reason before a request is processed", async () => {
    const { emulator } = setUp();
    const reason = new Error("enough");
    await expect(emulator.fetch(emulator.baseUrl, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(emulator.requests).toEqual([]);
  });

  it("rejects at once while a body is pending", async () => {
    const { emulator } = setUp();
    const controller = new AbortController();
    const response = emulator.fetch(`${emulator.baseUrl}/images`, {
      method: "POST",
      headers: { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": "application/octet-stream" },
      body: new ReadableStream({}),
      signal: controller.signal,
      duplex: "half",
    });
    controller.abort(new Error("too slow"));
    await expect(response).rejects.toThrow("too slow");
  });
});

it("the emulator records its requests and responses", async () => {
  const { emulator, get } = setUp();
  await get("/orders");
  await get("/nowhere?a=1");
  expect(emulator.requests).toEqual([
    { method: "GET", path: "/orders", status: 200 },
    { method: "GET", path: "/nowhere?a=1", status: 404 },
  ]);
});
