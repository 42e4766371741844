import { startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { setUp } from "../support.ts";

const limit = 32 * 2 ** 20;
const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A body without an end, which counts the bytes that were taken from it. */
function endless(start: Uint8Array) {
  const taken = { bytes: 0 };
  async function* pieces() {
    yield start;
    for (let piece = 0; piece < 200; piece += 1) {
      taken.bytes += 2 ** 20;
      yield new Uint8Array(2 ** 20).fill(0x20);
    }
    throw new Error("The emulator reads a body without a bound");
  }
  return { taken, body: ReadableStream.from(pieces()) };
}

describe("a body that the emulator keeps in memory", () => {
  it.each([
    ["/orders", "application/json", Uint8Array.of(0x7b)],
    ["/evidence", "application/octet-stream", png],
  ])("is refused when it is too large: %s", async (path, type, start) => {
    const { send } = setUp();
    const { taken, body } = endless(start);
    const headers = { "Content-Type": type };
    const response = await send("POST", path, { headers, body, duplex: "half" });
    expect([response.status, response.body.code]).toEqual([400, "unknown_input_error"]);
    expect(response.body.message).toContain(String(limit));
    expect(taken.bytes).toBeLessThan(limit + 4 * 2 ** 20);
  });

  it("is refused over a port, too, and the next request is served", async () => {
    await using emulator = await startEmulator();
    const headers = { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": "application/json" };
    const body = new Uint8Array(limit + 1).fill(0x20);
    const refused = await fetch(`${emulator.baseUrl}/orders`, { method: "POST", headers, body });
    const problem = { code: "unknown_input_error", message: expect.stringContaining(String(limit)) };
    expect([refused.status, await refused.json()]).toEqual([400, problem]);
    expect((await fetch(`${emulator.baseUrl}/orders`, { headers })).status).toBe(200);
  });
});

it("an image of any size is accepted, because only its hash is kept", async () => {
  const { send } = setUp();
  async function* picture() {
    yield png;
    for (let piece = 0; piece < 40; piece += 1) yield new Uint8Array(2 ** 20);
  }
  const headers = { "Content-Type": "application/octet-stream" };
  const response = await send("POST", "/images", { headers, body: ReadableStream.from(picture()), duplex: "half" });
  expect(response.status).toBe(200);
});
