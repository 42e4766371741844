import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";
import { inflateSync } from "node:zlib";
import { type StartEmulatorOptions, startEmulator } from "pod-partner/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { runExample } from "./process.ts";

/** Reads a PNG far enough to show that it is valid: its size, and that all pixels are there. */
function openPng(bytes: Buffer): { readonly width: number; readonly height: number } {
  expect(bytes.subarray(0, 8).toString("latin1")).toBe("\x89PNG\r\n\x1a\n");
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    chunks.set(bytes.toString("latin1", at + 4, at + 8), bytes.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const header = chunks.get("IHDR") ?? Buffer.alloc(13);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  expect(inflateSync(chunks.get("IDAT") ?? Buffer.alloc(0))).toHaveLength(height * (1 + width * 3));
  expect(chunks.has("IEND")).toBe(true);
  return { width, height };
}

/** An emulator with a program that uses it, and its requests. */
async function emulated(options: StartEmulatorOptions = {}) {
  const emulator = await startEmulator({ renderDuration: 0, ...options });
  onTestFinished(() => emulator.close());
  const { baseUrl, secretKey } = emulator;
  const environment = { POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey };
  const sent = () => emulator.requests.map(({ method, path }) => `${method} ${path}`);
  return { emulator, environment, sent };
}

/** A service that has no controls: only the API of an emulator. */
async function service() {
  const { emulator, environment, sent } = await emulated();
  const { origin } = new URL(emulator.baseUrl);
  const server = createServer(async (incoming, outgoing) => {
    const { method = "", url = "" } = incoming;
    if (!url.startsWith("/v2/")) return outgoing.writeHead(404).end();
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const body = method === "GET" ? null : await buffer(incoming);
    const response = await emulator.fetch(new Request(origin + url, { method, headers, body }));
    outgoing.writeHead(response.status, [...response.headers].flat()).end(Buffer.from(await response.arrayBuffer()));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { environment: { ...environment, POD_PARTNER_BASE_URL: `http://127.0.0.1:${port}/v2` }, sent };
}

/** The steps that have ended, each once. */
const stepsOf = (output: string): readonly string[] => [
  ...new Set(Array.from(output.matchAll(/^✓ (\w+) +[\d.]+ m?s {2}\S/gm), ([, step = ""]) => step)),
];

describe("the quickstart", () => {
  it("runs a whole day on the embedded emulator", async () => {
    const { code, output, errors, folder } = await runExample("quickstart.ts");
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
    const story = ["Key", "Store", "Catalog", "Composition", "Design", "Tokens", "Render", "Quote", "Order", "Orders"];
    expect(stepsOf(output)).toEqual(["Service", ...story, "Shipment", "Tracking", "Claim"]);
    expect(output).toMatch(/^✓ Orders +\d+ ms {2}121 in the list/m);
    expect(output).toMatch(/^ {2}tokens used +1 of 1000$/m);
    expect(openPng(await readFile(join(folder, "quickstart-mockup.png")))).toEqual({ width: 600, height: 800 });
    expect(await readdir(folder)).toEqual(["quickstart-mockup.png"]);
  });

  it("runs a whole day on an emulator that runs already, also when its clock stands still, in colours when they are wanted", async () => {
    const { emulator, environment, sent } = await emulated({ renderDuration: 3_000 });
    emulator.clock.freeze();
    const { code, output } = await runExample("quickstart.ts", { environment: { ...environment, FORCE_COLOR: "1" } });
    expect(code).toBe(0);
    expect(output).toContain("\u001b[32m✓\u001b[39m Key");
    const steps = stepsOf(stripVTControlCharacters(output));
    expect(steps).toEqual(expect.arrayContaining(["Render", "Order", "Shipment", "Claim"]));
    expect(sent().filter((line) => line === "POST /orders")).toHaveLength(1);
  });

  it("places no order when it uses another service", async () => {
    const { environment, sent } = await service();
    const { code, output } = await runExample("quickstart.ts", { environment });
    expect(code).toBe(0);
    expect(output).toMatch(/^– Order +\d+ ms {2}none was placed/m);
    expect(sent()).toContain("POST /renders");
    expect(sent()).not.toContain("POST /orders");
  });

  it("places one order and files no claim on another service when an option allows it", async () => {
    const { environment, sent } = await service();
    const { code } = await runExample("quickstart.ts", { environment, arguments: ["--place-order"] });
    expect(code).toBe(0);
    expect(sent().filter((line) => line === "POST /orders")).toHaveLength(1);
    expect(sent().filter((line) => line.includes("claim"))).toEqual([]);
  });

  it("prints the error and exits with 1 when it fails", async () => {
    const { environment } = await service();
    const wrong = { ...environment, POD_PARTNER_SECRET_KEY: "another-secret-key" };
    const { code, errors } = await runExample("quickstart.ts", { environment: wrong });
    expect(code).toBe(1);
    expect(errors).toMatch(/^AuthenticationError: POST \/auth\/validate returned 401/m);
    expect(errors).not.toContain("another-secret-key");
  });

  it("names the missing option when only one is set", async () => {
    const { code, errors } = await runExample("quickstart.ts", {
      environment: { POD_PARTNER_SECRET_KEY: "a-secret-key" },
    });
    expect(code).toBe(1);
    expect(errors).toMatch(/ConfigurationError[\s\S]*baseUrl: is required/);
  });
});
