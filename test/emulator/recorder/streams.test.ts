import { once } from "node:events";
import { request } from "node:http";
import { createManualClock, startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { dropship, setUp } from "../support.ts";

const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

describe("a request's body", () => {
  it("is recorded while the service reads it", async () => {
    const { emulator, send } = setUp();
    let write = (_bytes: Uint8Array) => {};
    let close = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        write = (bytes) => controller.enqueue(bytes);
        close = () => controller.close();
      },
    });
    const headers = { "Content-Type": "application/octet-stream" };
    const response = send("POST", "/images", { headers, body, duplex: "half" } as RequestInit);
    write(new Uint8Array(png));
    await expect.poll(() => emulator.requests[0]?.request.body?.size).toBe(8);
    expect(emulator.requests[0]?.outcome).toBe("open");
    write(new Uint8Array(1000));
    close();
    expect((await response).status).toBe(200);
    expect(emulator.requests[0]).toMatchObject({ outcome: "responded", request: { body: { size: 1008 } } });
  });

  it("is read no further ahead than without a record", async () => {
    const { emulator, send } = setUp();
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(new Uint8Array(100));
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { "Content-Type": "application/octet-stream" };
    expect((await send("POST", "/images", { headers, body, duplex: "half" } as RequestInit)).status).toBe(400);
    expect([pulled, emulator.requests[0]?.request.body?.size]).toEqual([1, 100]);
  });

  it("is recorded when a gateway has given up before the service carries the request out", async () => {
    const bench = setUp();
    const sent = await dropship(bench);
    bench.emulator.faults.add({ fault: "gateway", ms: 100, processing: 500 });
    const response = bench.post("/orders", sent);
    await bench.clock.advance(100);
    expect((await response).status).toBe(504);
    await bench.clock.advance(400);
    const entry = bench.emulator.requests.at(-1);
    expect(entry).toMatchObject({ status: 504, fault: "gateway", duration: 100, outcome: "responded" });
    expect(entry?.request.body?.json()).toEqual(sent);
  });

  it("of one million characters keeps its start and its size", async () => {
    const { emulator, post } = setUp();
    await post("/orders", { order: "a".repeat(1_000_000) });
    const body = emulator.requests[0]?.request.body;
    expect(body).toMatchObject({ size: 1_000_012, truncated: true });
    expect(body?.text).toMatch(/^\{"order":"a+$/);
    expect(body?.text?.length).toBe(65_536);
    expect(() => body?.json()).toThrow(SyntaxError);
  });
});

describe("a response that does not arrive as a whole is recorded as", () => {
  it("dropped without a status", async () => {
    const { emulator, get } = setUp();
    emulator.faults.add({ fault: "drop" });
    await rejection(get("/orders"));
    expect(emulator.requests[0]).toMatchObject({ status: undefined, response: undefined, outcome: "dropped" });
  });

  it("dropped with half of its body", async () => {
    const { emulator, get } = setUp();
    const whole = JSON.stringify((await get("/stores")).body);
    emulator.faults.add({ fault: "truncate" });
    await rejection(get("/stores"));
    const half = whole.slice(0, Math.floor(whole.length / 2));
    expect(emulator.requests[1]).toMatchObject({ status: 200, outcome: "dropped", response: { body: { text: half } } });
  });

  it("open while it is stalled, then aborted", async () => {
    const { emulator } = setUp();
    emulator.faults.add({ fault: "stall" });
    const client = new AbortController();
    const headers = { "X-Service-Secret-Key": emulator.secretKey };
    const response = await emulator.fetch(`${emulator.baseUrl}/stores`, { headers, signal: client.signal });
    const read = rejection(response.text());
    await expect.poll(() => emulator.requests[0]?.response?.body?.text).toMatch(/^\{"stores"/);
    expect(emulator.requests[0]).toMatchObject({ status: 200, outcome: "open", duration: undefined });
    client.abort(new Error("enough"));
    expect(await read).toEqual(new Error("enough"));
    expect(emulator.requests[0]).toMatchObject({ status: 200, outcome: "aborted", duration: 0 });
  });

  it("aborted when its reader cancels it", async () => {
    const { emulator } = setUp();
    emulator.faults.add({ fault: "trickle", ms: 10 });
    const headers = { "X-Service-Secret-Key": emulator.secretKey };
    const { body } = await emulator.fetch(`${emulator.baseUrl}/stores`, { headers });
    const reader = body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(emulator.requests[0]).toMatchObject({ outcome: "aborted", response: { body: { size: 1, text: "{" } } });
  });

  it.each([
    ["in the request's body", '{"order":{', 100],
    ["before the response", '{"order":{}}', 12],
  ])("aborted when the client closes its connection %s", async (_case, part, length) => {
    const clock = createManualClock();
    await using emulator = await startEmulator({ clock });
    emulator.faults.add({ fault: "slow", ms: 60_000 });
    const client = request(`${emulator.baseUrl}/orders`, {
      method: "POST",
      headers: {
        "X-Service-Secret-Key": emulator.secretKey,
        "Content-Type": "application/json",
        "Content-Length": length,
      },
    });
    client.on("error", () => {});
    client.write(part);
    await expect.poll(() => emulator.requests[0]?.request.body?.text).toBe(part);
    expect(emulator.requests[0]?.outcome).toBe("open");
    client.destroy();
    await expect.poll(() => emulator.requests[0]?.outcome).toBe("aborted");
    expect(emulator.requests[0]?.status).toBeUndefined();
  });
});

it("a trickled response is recorded byte by byte", async () => {
  const { emulator, get, clock } = setUp();
  emulator.faults.add({ fault: "trickle", ms: 10 });
  const response = get("/stores");
  await clock.advance(100);
  expect(emulator.requests[0]).toMatchObject({ outcome: "open", response: { body: { text: '{"stores":[' } } });
  await clock.advance(100_000);
  const text = JSON.stringify((await response).body);
  expect(emulator.requests[0]).toMatchObject({
    outcome: "responded",
    duration: 10 * Buffer.byteLength(text),
    response: { body: { text } },
  });
});

it("a response over a port has its size, and HEAD has no body", async () => {
  await using emulator = await startEmulator();
  const headers = { "X-Service-Secret-Key": emulator.secretKey };
  const response = await fetch(`${emulator.baseUrl}/stores`, { headers });
  expect(Number(response.headers.get("Content-Length"))).toBe((await response.bytes()).length);
  const head = request(`${emulator.baseUrl}/stores`, { method: "HEAD", headers }).end();
  const [incoming] = await once(head, "response");
  incoming.resume();
  await once(incoming, "end");
  expect(incoming.statusCode).toBe(404);
});
