import type { Fault } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { endpoints } from "../../support/endpoints.ts";
import { rejection } from "../../support/exchange.ts";
import { dropship, problem, setUp } from "../support.ts";

const statusOf = async ({ get }: ReturnType<typeof setUp>) => (await get("/orders")).status;

describe("a fault applies to", () => {
  const away: Fault = { fault: "status", status: 503 };

  it("every request by default, until it is removed", async () => {
    const bench = setUp();
    const fault = bench.emulator.faults.add(away);
    expect([await statusOf(bench), await statusOf(bench)]).toEqual([503, 503]);
    expect(fault.hits).toBe(2);
    fault.remove();
    expect(await statusOf(bench)).toBe(200);
  });

  it("the requests of one call, or of one route", async () => {
    const bench = setUp();
    const { faults } = bench.emulator;
    faults.add({ ...away, on: "orders.list" });
    faults.add({ ...away, status: 502, on: "GET /products/{productReference}" });
    const paths = ["/orders", "/products", `/products/${bench.demo.products.slimCase}`, "/nowhere"];
    const responses = await Promise.all(paths.map((path) => bench.get(path)));
    expect(responses.map(({ status }) => status)).toEqual([503, 200, 502, 404]);
  });

  it("the n-th matching request since it was added, or those that a function selects", async () => {
    const bench = setUp();
    await bench.get("/orders");
    bench.emulator.faults.add({ ...away, on: "orders.list", nth: 2 });
    bench.emulator.faults.add({ ...away, status: 500, on: "orders.list", nth: (n) => n >= 4 });
    await bench.get("/stores");
    const statuses = [];
    for (let request = 0; request < 5; request++) statuses.push(await statusOf(bench));
    expect(statuses).toEqual([200, 503, 200, 500, 500]);
  });

  it("a request alone: the first of several faults wins, and all can be removed at once", async () => {
    const bench = setUp();
    const first = bench.emulator.faults.add(away);
    const second = bench.emulator.faults.add({ ...away, status: 500 });
    expect([await statusOf(bench), first.hits, second.hits]).toEqual([503, 1, 0]);
    bench.emulator.faults.clear();
    expect(await statusOf(bench)).toBe(200);
  });

  it.each<[string, Fault]>([
    ["an unknown endpoint", { ...away, on: "orders.destroy" }],
    ["a count from 0", { ...away, nth: 0 }],
    ["a status that is not an error", { fault: "status", status: 200 }],
    ["a negative wait", { fault: "slow", ms: -1 }],
    ["a retryAfter in seconds", { ...away, retryAfter: 7 }],
    ["a negative retryAfter", { ...away, retryAfter: -1_000 }],
    ["an infinite retryAfter", { ...away, retryAfter: Number.POSITIVE_INFINITY }],
    ["a body where a body is not possible", { fault: "body", status: 204, body: "{}" }],
    ["an unknown kind", { fault: "explode" } as never],
    ["no status", { fault: "status" } as never],
    ["a status that is a text", { fault: "status", status: "503" } as never],
    ["a count that is a text", { ...away, nth: "1" } as never],
    ["no headers", { fault: "headers" } as never],
    ["a header that HTTP does not allow", { fault: "headers", headers: { "a b": "1" } }],
    ["a Retry-After of two lines", { ...away, retryAfter: "7\nx: 1" }],
    ["no body", { fault: "body" } as never],
    ["a failed render of another call", { fault: "failRender", on: "orders.create" }],
    ["a status below 200", { fault: "body", status: 99, body: "" }],
    ["an unknown field", { fault: "drop", status: 500 } as never],
  ])("no request with %s: it is refused", (_, fault) => {
    expect(() => setUp().emulator.faults.add(fault)).toThrow(/^(A fault's|The emulator has no endpoint)/);
  });
});

describe("a fault selects requests by", () => {
  const on = (name: string) => setUp().emulator.faults.add({ on: name, fault: "drop" });

  it.each(endpoints.map(({ call }) => call))("the name of the client's call: %s", (call) => {
    expect(() => on(call)).not.toThrow();
  });

  it("a known name only: an unknown one is refused with the likely name", () => {
    expect(() => on("order.create")).toThrow(
      "The emulator has no endpoint order.create; did you mean `orders.create`?\n  An endpoint has the name of",
    );
    expect(() => on("orders.destroy")).toThrow(/^The emulator has no endpoint orders\.destroy\n/);
    const fault = "dropp" as "drop";
    expect(() => setUp().emulator.faults.add({ fault })).toThrow(/; got dropp; did you mean `drop`\?$/);
  });
});

describe("a fault before or after the service has processed the request", () => {
  const orders = async (bench: ReturnType<typeof setUp>) => (await bench.get("/orders")).body.orders.length;

  it.each<Fault>([
    { fault: "drop" },
    { fault: "status", status: 500 },
    { fault: "redirect", location: "https://elsewhere.test" },
    { fault: "body", body: "<html>" },
  ])("$fault", async (fault) => {
    const bench = setUp();
    const order = await dropship(bench);
    const { faults } = bench.emulator;
    faults.add({ ...fault, on: "orders.create", nth: 1, when: "before" } as Fault);
    await bench.post("/orders", order).catch(() => undefined);
    expect(await orders(bench)).toBe(0);
    faults.add({ ...fault, on: "orders.create", nth: 1 } as Fault);
    await bench.post("/orders", order).catch(() => undefined);
    expect(await orders(bench)).toBe(1);
  });

  it("slow: the request is processed after the delay, also when the client has disconnected", async () => {
    const bench = setUp();
    const order = JSON.stringify(await dropship(bench));
    bench.emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 400, when: "before" });
    const headers = { "Content-Type": "application/json" };
    const client = new AbortController();
    const response = rejection(bench.send("POST", "/orders", { body: order, headers, signal: client.signal }));
    await bench.clock.advance(399);
    client.abort(new Error("gone"));
    expect(await orders(bench)).toBe(0);
    await bench.clock.advance(1);
    expect(await response).toEqual(new Error("gone"));
    expect(await orders(bench)).toBe(1);
  });
});

describe("the response to a request with a fault", () => {
  it("does not exist when the connection drops: fetch throws, and the log has a request without a status", async () => {
    const bench = setUp();
    bench.emulator.faults.add({ fault: "drop" });
    const error = await rejection(bench.get("/orders"));
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: "fetch failed", cause: { code: "ECONNRESET" } });
    expect(bench.emulator.requests).toEqual([{ method: "GET", path: "/orders", status: undefined }]);
  });

  it("is a status with an error object and Retry-After, or the page of a proxy", async () => {
    const bench = setUp();
    const { faults } = bench.emulator;
    faults.add({ nth: 1, fault: "status", status: 429, code: "rate_limited", retryAfter: 6_001 });
    const limited = await bench.get("/orders");
    expect(problem(limited)).toEqual({ status: 429, code: "rate_limited" });
    expect(limited.headers.get("Retry-After")).toBe("7");
    faults.add({ nth: 1, fault: "status", status: 503, retryAfter: 0 });
    expect((await bench.get("/orders")).headers.get("Retry-After")).toBe("0");
    faults.add({ nth: 1, fault: "status", status: 502, retryAfter: "soon" });
    const { status, headers } = await bench.get("/orders");
    expect([status, headers.get("Retry-After"), headers.get("Content-Type")]).toEqual([
      502,
      "soon",
      "text/plain;charset=UTF-8",
    ]);
  });

  it("is a redirect", async () => {
    const bench = setUp();
    bench.emulator.faults.add({ fault: "redirect", location: "https://elsewhere.test/" });
    const { status, headers } = await bench.get("/orders");
    expect([status, headers.get("Location")]).toEqual([302, "https://elsewhere.test/"]);
  });

  it.each([
    ["an HTML page", "<h1>Hello</h1>", "text/html", "<h1>Hello</h1>"],
    ["garbage", new Uint8Array([0xff, 0x00]), "application/json", "\ufffd\u0000"],
    ["nothing", "", "application/json", ""],
    ["JSON of another shape", { order: 7 }, "application/json", '{"order":7}'],
  ])("is %s", async (_, body, type, text) => {
    const { emulator } = setUp();
    emulator.faults.add({ fault: "body", body, type });
    const response = await emulator.fetch(`${emulator.baseUrl}/orders`);
    expect([response.status, response.headers.get("Content-Type")]).toEqual([200, type]);
    expect(await response.text()).toBe(text);
  });

  it("is the right one with other headers", async () => {
    const bench = setUp();
    bench.emulator.faults.add({ fault: "headers", headers: { "X-RateLimit": '"default";r=-1;t=9e9' } });
    const { status, headers, body } = await bench.get("/orders");
    expect([status, headers.get("X-RateLimit"), body.orders]).toEqual([200, '"default";r=-1;t=9e9', []]);
    expect(headers.get("X-RateLimit-Policy")).toBe('"default";q=3000;w=60');
  });
});
