import { describe, expect, it } from "vitest";
import { dropship, problem, setUp, unknownReference } from "../support.ts";

describe("routing", () => {
  it("responds with 404 outside the base URL's path", async () => {
    const { emulator } = setUp();
    const headers = { "X-Service-Secret-Key": emulator.secretKey };
    expect((await emulator.fetch("http://emulator.test/v1/orders", { headers })).status).toBe(404);
  });
});

describe("input", () => {
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
