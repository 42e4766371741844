import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { type RunningEmulator, startEmulator } from "pod-partner/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let emulator: RunningEmulator;

beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.close());

/** Sends a request line as it is, which `fetch` cannot do, and returns the parts of the response. */
async function send(line: string, secretKey = emulator.secretKey) {
  const { host, port, hostname } = new URL(emulator.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(`${line} HTTP/1.1\r\nHost: ${host}\r\nX-Service-Secret-Key: ${secretKey}\r\nConnection: close\r\n\r\n`);
  const response = await text(socket);
  const [head = "", chunks = ""] = response.split("\r\n\r\n");
  const body = chunks.slice(chunks.indexOf("{"), chunks.lastIndexOf("}") + 1);
  return { status: Number(head.split(" ")[1]), head: head.toLowerCase(), body };
}

describe("a request target in absolute form (RFC 9112, 3.2.2)", () => {
  it("has the same response as its path", async () => {
    const { status, body } = await send(`GET ${emulator.baseUrl}/organization`);
    expect(status).toBe(200);
    expect(body).toContain('"organization":');
    expect(emulator.requests.at(-1)).toEqual({ method: "GET", path: "/organization", status: 200 });
  });

  it("keeps its query", async () => {
    const { status, body } = await send(`GET ${emulator.baseUrl}/orders?page=2`);
    expect([status, body]).toEqual([400, expect.stringContaining('"code":"unknown_input_error"')]);
  });
});

it.each([
  ["OPTIONS *", "/*"],
  ["GET *", "/*"],
  ["GET http://[/", "/http://[/"],
  ["TRACE /v2/orders", "/orders"],
])("%s is refused with 404, an error object and the rate limits", async (line, path) => {
  const { status, head, body } = await send(line);
  expect(status).toBe(404);
  expect(head).toContain("content-type: application/json");
  expect(head).toContain('x-ratelimit-policy: "default"');
  expect(JSON.parse(body)).toEqual({ code: "not_found", message: expect.stringContaining(line.split(" ")[0] ?? "") });
  expect(emulator.requests.at(-1)).toEqual({ method: line.split(" ")[0], path, status: 404 });
});

it("TRACE without a valid key is refused with 401", async () => {
  const { status, body } = await send("TRACE /v2/orders", "another key");
  expect([status, JSON.parse(body).code]).toEqual([401, "unauthorized"]);
});

it("a fault applies to TRACE, too", async () => {
  const fault = emulator.faults.add({ fault: "slow", when: "before", ms: 1 });
  expect((await send("TRACE /v2/orders")).status).toBe(404);
  fault.remove();
});

it.each(["/anything", "/_emulator/ship", "/v2", "/v2/orders"])(
  "TRACE %s has the same response in an isolated world as without one",
  async (path) => {
    using world = emulator.worlds.create({ name: "traced" });
    const [inWorld, without] = [await send(`TRACE /worlds/${world.name}${path}`), await send(`TRACE ${path}`)];
    expect(without.status).toBeGreaterThanOrEqual(400);
    expect(without.status).toBeLessThan(500);
    const message = (body: string) => JSON.parse(body.replaceAll("/worlds/traced", ""));
    expect([inWorld.status, message(inWorld.body)]).toEqual([without.status, message(without.body)]);
  },
);
