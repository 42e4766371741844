import { get } from "node:http";
import { startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";

/** The status of a request to the list of controls, with a `Host` header. */
const controlsFor = (port: number, host: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    get({ host: "127.0.0.1", port, path: "/_emulator", headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).once("error", reject);
  });

describe("the address of an emulator", () => {
  it("is that of `host`", async () => {
    await using emulator = await startEmulator({ host: "127.0.0.2" });
    expect(emulator.baseUrl).toMatch(/^http:\/\/127\.0\.0\.2:\d+\/v2$/);
    expect((await fetch(`${emulator.baseUrl}/stores`)).status).toBe(401);
  });

  it("is loopback in the base URL when it listens on every address", async () => {
    await using emulator = await startEmulator({ host: "0.0.0.0" });
    expect(emulator.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v2$/);
  });

  it.each(["https://tunnel.example", "https://tunnel.example/"])("begins with `publicUrl` %s", async (publicUrl) => {
    await using emulator = await startEmulator({ publicUrl });
    expect(emulator.baseUrl).toBe("https://tunnel.example/v2");
  });

  it("is the only one, besides loopback, under which the controls respond", async () => {
    // The port of an emulator that has ended is free.
    const earlier = await startEmulator();
    const port = Number(new URL(earlier.baseUrl).port);
    await earlier.close();
    await using _ = await startEmulator({ port, publicUrl: "http://shop.example" });
    expect(await controlsFor(port, `127.0.0.1:${port}`)).toBe(200);
    expect(await controlsFor(port, "shop.example")).toBe(200);
    expect(await controlsFor(port, "other.example")).toBe(403);
  });

  it.each([
    [{ host: "" }, "host: expected a host name or an address"],
    [{ host: "a b" }, "host: expected a host name or an address"],
    [{ publicUrl: "https://tunnel.example/v2" }, "publicUrl: expected only an origin"],
    [{ publicUrl: "https://user@tunnel.example" }, "publicUrl: expected only an origin"],
    [{ publicUrl: "tunnel.example" }, "publicUrl: expected only an origin"],
    [{ publicUrl: "ftp://tunnel.example" }, "publicUrl: expected only an origin"],
  ])("refuses %j, and leaves no port open", async (options, message) => {
    const open = () => process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length;
    const before = open();
    await expect(startEmulator(options)).rejects.toThrow(message);
    expect(open()).toBe(before);
  });
});
