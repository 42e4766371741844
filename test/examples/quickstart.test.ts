import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { startEmulator } from "pod-partner/testing";
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

async function service() {
  const emulator = await startEmulator({ renderDuration: 0 });
  onTestFinished(() => emulator.close());
  const { baseUrl, secretKey } = emulator;
  const environment = { POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey };
  const sent = () => emulator.requests.map(({ method, path }) => `${method} ${path}`);
  return { environment, sent };
}

describe("the quickstart", () => {
  it("runs a whole day on the embedded emulator", async () => {
    const { code, output, errors, folder } = await runExample("quickstart.ts");
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
    const story = ["Key", "Store", "Catalog", "Composition", "Design", "Tokens", "Render", "Quote", "Order", "Orders"];
    const steps = [...new Set(output.split("\n").map((line) => line.split(" ")[0]))];
    expect(steps).toEqual(["Service", ...story, "Shipment", "Tracking", "Claim", "", "Summary"]);
    expect(output).toMatch(/^Orders +121 in the list/m);
    expect(output).toMatch(/^ {2}tokens used +1 of 1000$/m);
    expect(openPng(await readFile(join(folder, "quickstart-mockup.png")))).toEqual({ width: 600, height: 800 });
    expect(await readdir(folder)).toEqual(["quickstart-mockup.png"]);
  });

  it("places no order when it uses another service", async () => {
    const { environment, sent } = await service();
    const { code, output } = await runExample("quickstart.ts", { environment });
    expect(code).toBe(0);
    expect(output).toMatch(/^Order +none was placed/m);
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
