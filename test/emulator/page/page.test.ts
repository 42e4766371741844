import { request } from "node:http";
import { startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";

/** Sends a GET as a browser does, with headers that `fetch` does not let a caller set. */
const get = (url: string, headers: Readonly<Record<string, string>>) =>
  new Promise<{ readonly status: number | undefined; readonly text: string }>((resolve, reject) => {
    const sent = request(url, { headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode, text }));
    });
    sent.on("error", reject);
    sent.end();
  });

describe("the page of the emulator", () => {
  it("is at the root, and at /_emulator for a browser; a program gets the list of controls there", async () => {
    await using emulator = await startEmulator();
    const origin = new URL(emulator.baseUrl).origin;
    const browser = { Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
    expect(await (await fetch(origin)).text()).toContain('<div id="app">');
    expect(await (await fetch(`${origin}/_emulator`, { headers: browser })).text()).toContain('<div id="app">');
    expect(await (await fetch(`${origin}/_emulator`)).json()).toHaveProperty("controls");
    const json = { Accept: "application/json, text/html" };
    expect(await (await fetch(`${origin}/_emulator`, { headers: json })).json()).toHaveProperty("controls");
  });

  it("loads nothing from elsewhere, runs no inline code, and is in no frame", async () => {
    await using emulator = await startEmulator();
    const origin = new URL(emulator.baseUrl).origin;
    for (const path of ["/", "/_emulator/state", "/_emulator/page/app.js", "/_emulator/page/app.css"]) {
      const { status, headers } = await fetch(origin + path);
      expect(status).toBe(200);
      expect(headers.get("Content-Security-Policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("Referrer-Policy")).toBe("no-referrer");
    }
    const html = await (await fetch(origin)).text();
    expect(html).not.toMatch(/https?:|style=|\son\w+=|<script>/);
  });

  it("sends events to a new page after many have come and gone, also while nothing happens", async () => {
    await using emulator = await startEmulator();
    const origin = new URL(emulator.baseUrl).origin;
    for (let page = 0; page < 70; page += 1) {
      const gone = new AbortController();
      const { body } = await fetch(`${origin}/_emulator/events`, { signal: gone.signal });
      await body?.getReader().read();
      gone.abort();
    }
    const statusOfNext = async () => {
      const response = await fetch(`${origin}/_emulator/events`);
      await response.body?.cancel();
      return response.status;
    };
    await expect.poll(statusOfNext).toBe(200);
  });

  it.each([
    ["another Host, after DNS rebinding", { Host: "rebound.example" }],
    ["another Origin", { Origin: "https://other.example" }],
    ["the Origin null", { Origin: "null" }],
    ["another port of this machine", { Origin: "http://127.0.0.1:1" }],
    ["another site, without an Origin", { "Sec-Fetch-Site": "cross-site" }],
  ])("is refused to %s, with its state, its events and its pictures", async (_, headers) => {
    await using emulator = await startEmulator();
    const origin = new URL(emulator.baseUrl).origin;
    const paths = ["/", "/_emulator", "/_emulator/state", "/_emulator/events", "/_emulator/requests"];
    for (const path of [...paths, "/_emulator/pictures/renders/Render_0", "/_emulator/page/app.js"]) {
      const { status, text } = await get(origin + path, headers);
      expect(status, path).toBe(403);
      expect(JSON.parse(text).code).toBe("other_site");
    }
  });

  it("refuses a control whose content type another site can send without being asked", async () => {
    await using emulator = await startEmulator();
    const reset = `${new URL(emulator.baseUrl).origin}/_emulator/faults.add`;
    const body = JSON.stringify({ fault: { fault: "drop" } });
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      const response = await fetch(reset, { method: "POST", headers: { "Content-Type": type }, body });
      expect(response.status).toBe(400);
    }
    expect((await fetch(`${emulator.baseUrl}/orders`)).status).toBe(401);
  });

  it("does not contain the key, and neither does its state", async () => {
    await using emulator = await startEmulator({ secretKey: "a-key-that-is-easy-to-find" });
    await fetch(`${emulator.baseUrl}/orders`, { headers: { "X-Service-Secret-Key": emulator.secretKey } });
    const origin = new URL(emulator.baseUrl).origin;
    for (const path of ["/", "/_emulator/state", "/_emulator/requests", "/_emulator/requests/1"]) {
      const text = await (await fetch(origin + path)).text();
      expect(text.length).toBeGreaterThan(10);
      expect(text).not.toContain("a-key-that-is-easy-to-find");
    }
  });

  it("has a state of bounded size with 100,000 orders", async () => {
    await using emulator = await startEmulator({ seed: { orders: 100_000 } });
    const text = await (await fetch(`${new URL(emulator.baseUrl).origin}/_emulator/state`)).text();
    const { orders } = JSON.parse(text);
    expect(orders.total).toBe(100_000);
    expect(orders.items.map(({ customIdentifier }: { customIdentifier: string }) => customIdentifier)).toEqual(
      Array.from({ length: 100 }, (_, position) => `seed-${100_000 - position}`),
    );
    expect(text.length).toBeLessThan(60_000);
  });
});
