import { request as httpRequest } from "node:http";
import { type HttpHandler, http } from "msw";
import { setupServer } from "msw/node";
import { PodPartner } from "pod-partner";
import { createEmulator, createManualClock, emulatorHandlers, sampleImage, startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { endpoints } from "../../support/endpoints.ts";
import { setUp } from "../support.ts";

describe("startEmulator()", () => {
  it("serves the emulator on 127.0.0.1 and leaves nothing open when it is closed", async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length;
    const emulator = await startEmulator({ secretKey: "a key" });
    expect(emulator.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v2$/);
    const headers = { "X-Service-Secret-Key": "a key", "Content-Type": "application/octet-stream" };
    const uploaded = await fetch(`${emulator.baseUrl}/images`, { method: "POST", headers, body: sampleImage() });
    expect(uploaded.status).toBe(200);
    expect(uploaded.headers.get("X-RateLimit")).toBe('"default";r=2999;t=0, "uploads";r=4999;t=0');
    expect(await uploaded.json()).toEqual({ image: { reference: expect.stringMatching(/^Image_/) } });
    expect((await fetch(`${emulator.baseUrl}/orders`)).status).toBe(401);
    await emulator.close();
    await emulator.close();
    await expect(fetch(`${emulator.baseUrl}/orders`, { headers })).rejects.toThrow();
    const after = process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length;
    expect(after).toBe(before);
  });

  it("is closed by `await using`, also while a request hangs", async () => {
    let base = "";
    {
      await using emulator = await startEmulator();
      base = emulator.baseUrl;
      const hanging = httpRequest(`${base}/images`, {
        method: "POST",
        headers: { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": "application/octet-stream" },
      });
      hanging.on("error", () => {});
      hanging.write("\x89");
      await new Promise((resolve) => hanging.once("socket", (socket) => socket.once("connect", resolve)));
    }
    await expect(fetch(base)).rejects.toThrow();
  });

  it("returns URLs that refer to itself", async () => {
    await using emulator = await startEmulator();
    const headers = { "X-Service-Secret-Key": emulator.secretKey };
    const path = `/products/${emulator.demo.products.slimCase}`;
    const { product } = (await (await fetch(emulator.baseUrl + path, { headers })).json()) as {
      product: { media: [{ url: string }] };
    };
    const media = await fetch(product.media[0].url, { headers });
    expect(Buffer.from(await media.arrayBuffer()).toString("latin1", 1, 4)).toBe("PNG");
  });
});

describe("emulatorHandlers() for MSW", () => {
  it("serves a call of any fetch in the process", async () => {
    const emulator = createEmulator();
    const server = setupServer(...emulatorHandlers(emulator));
    server.listen({ onUnhandledFrame: "error" });
    try {
      const headers = { "X-Service-Secret-Key": emulator.secretKey };
      const response = await fetch(`${emulator.baseUrl}/stores`, { headers });
      expect(await response.json()).toMatchObject({ stores: [{ name: "Demo webshop" }, {}, {}] });
      expect(emulator.requests).toEqual([{ method: "GET", path: "/stores", status: 200 }]);
    } finally {
      server.close();
    }
  });

  it("breaks the connection when a fault drops it", async () => {
    const emulator = createEmulator();
    emulator.faults.add({ fault: "drop" });
    const server = setupServer(...emulatorHandlers(emulator));
    server.listen({ onUnhandledFrame: "error" });
    try {
      await expect(fetch(`${emulator.baseUrl}/stores`)).rejects.toThrow(TypeError);
    } finally {
      server.close();
    }
  });

  it("returns handlers with MSW's own type", () => {
    const handlers: HttpHandler[] = emulatorHandlers(createEmulator());
    expect(handlers[0]?.info.path).toBe("http://emulator.test/v2/*");
    expect(handlers[0]?.constructor).toBe(http.get("/", () => undefined).constructor);
  });
});

describe("options", () => {
  it.each([
    { baseUrl: "http://emulator.test/v1" },
    { pageSize: 0 },
    { pageSize: 2.5 },
    { seed: { orders: -1 } },
    { seed: { orders: 1.5 } },
    { seed: { number: 1.5 } },
    { seed: { number: "one" } },
    { renderDuration: Number.NaN },
    { rendertokenLimit: -1 },
    { rendertokenLimit: 0.5 },
    { renderDuraton: 5 },
    { limits: { defualt: { quota: 1, window: 1_000 } } },
    { limits: { default: { quota: 1 } } },
    { limits: { default: { quota: 1.5, window: 1_000 } } },
    { limits: { default: { quota: 20, window: 4 } } },
    { seed: { order: 1 } },
    { clock: {} },
    { repeatedIdentifier: "ignore" },
    null,
  ])("refuses %j", (options) => {
    expect(() => createEmulator(options as never)).toThrow("The emulator's options are not valid");
  });

  it("names a misspelled option", () => {
    expect(() => createEmulator({ renderDuraton: 5 } as never)).toThrow("renderDuraton: is an unknown option");
  });

  it("suggests the new name for a limit's old name", () => {
    expect(() => createEmulator({ limits: { default: { q: 1, w: 60 } } } as never)).toThrow(
      /limits\.default\.q: is now called `quota`.*limits\.default\.w: is now called `window`, in milliseconds/s,
    );
  });

  it.each(["http://emulator.test/v2/", " http://emulator.test/v2 "])(
    "accepts the base URL %j as a client does",
    async (baseUrl) => {
      const emulator = createEmulator({ baseUrl });
      const { secretKey, fetch } = emulator;
      expect(emulator.baseUrl).toBe("http://emulator.test/v2");
      const partner = new PodPartner({ baseUrl, secretKey, fetch });
      expect(await partner.organization.stores.list()).toHaveLength(3);
    },
  );

  it("leaves no port open when the options are refused", async () => {
    const ports = () => process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length;
    const before = ports();
    await expect(startEmulator({ pageSize: 0 })).rejects.toThrow("pageSize");
    expect(ports()).toBe(before);
  });

  it("the emulator has a route for every endpoint of the client", async () => {
    const { send } = setUp();
    const messageOf = async (method: string, path: string) => (await send(method, path)).body.message ?? "";
    const noRoute = /^The endpoint .* does not exist$/;
    expect(await messageOf("GET", "/unknown")).toMatch(noRoute);
    for (const { method, path } of endpoints.filter((endpoint) => endpoint.path.startsWith("/"))) {
      expect(await messageOf(method, path.replaceAll(/\{\w+\}/g, "x"))).not.toMatch(noRoute);
    }
  });
});

describe("the manual clock", () => {
  it("runs due timers in order, each at its own time, and lets promises settle in between", async () => {
    const clock = createManualClock("2026-01-01T00:00:00Z");
    const seen: string[] = [];
    const at = () => new Date(clock.now()).toISOString().slice(17, 23);
    clock.after(2000, () => seen.push(`b ${at()}`));
    clock.after(1000, () => {
      seen.push(`a ${at()}`);
      Promise.resolve().then(() => clock.after(500, () => seen.push(`after a ${at()}`)));
    });
    const cancel = clock.after(1500, () => seen.push("never"));
    clock.after(9000, () => seen.push("later"));
    cancel();
    await clock.advance(3000);
    expect(seen).toEqual(["a 01.000", "after a 01.500", "b 02.000"]);
    expect([at(), clock.pending]).toEqual(["03.000", 1]);
  });

  it("moves to a later time, and never back", async () => {
    const clock = createManualClock(0);
    await clock.set(new Date(5000));
    expect(clock.now()).toBe(5000);
    await expect(clock.set(4999)).rejects.toThrow("backwards");
    await expect(clock.advance(-1)).rejects.toThrow("backwards");
    await expect(clock.advance(Number.NaN)).rejects.toThrow("backwards");
    expect(() => createManualClock("soon")).toThrow("The time must be a date");
  });
});
