import type { PartnerClock } from "pod-partner";
import { type Fault, type RunningEmulator, type StartEmulatorOptions, startEmulator } from "pod-partner/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { secretKey, useService } from "../support/partner.ts";
import { runMain } from "./main.ts";

interface Report {
  readonly ok: boolean;
  readonly version: string;
  readonly checks: Readonly<
    Record<string, { status: string; message: string; action: string | null; details: Record<string, unknown> }>
  >;
}

async function emulate(options: StartEmulatorOptions = {}): Promise<RunningEmulator> {
  const emulator = await startEmulator(options);
  onTestFinished(() => emulator.close());
  return emulator;
}

/** Runs the doctor on an emulator, as text and as JSON. */
async function examine({ baseUrl, secretKey }: { readonly baseUrl: string; readonly secretKey: string }) {
  const environment = { POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey };
  const text = await runMain(["doctor"], environment);
  const json = await runMain(["doctor", "--json"], environment);
  expect(json.code).toBe(text.code);
  expect(text.errors + json.errors).toBe("");
  return { code: text.code, output: text.output, report: JSON.parse(json.output) as Report };
}

/** A clock that runs, at another time than the machine's. */
const clockApart = (difference: number): PartnerClock => ({
  now: () => Date.now() + difference,
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
});

/** The status of each check. */
const statusesOf = ({ checks }: Report) =>
  Object.fromEntries(Object.entries(checks).map(([name, { status }]) => [name, status]));

const allOk = {
  baseUrl: "ok",
  connection: "ok",
  key: "ok",
  permissions: "ok",
  environment: "ok",
  clock: "ok",
  rateLimits: "ok",
  stores: "ok",
  rendertokens: "ok",
};

describe("doctor on a service without a fault", () => {
  it("marks each check, and exits with 0", async () => {
    const emulator = await emulate();
    const { code, output, report } = await examine(emulator);
    expect(code).toBe(0);
    expect(output.match(/^ ✓ /gm)).toHaveLength(9);
    expect(output).toContain(` ✓  Base URL      ${emulator.baseUrl}\n`);
    expect(output).toMatch(/^ ✓ {2}Environment {3}Test, by the organization's record/m);
    expect(output).toMatch(/^ ✓ {2}Stores {8}2 of 3 stores accept orders: DEMO, WHOLE; not SHOPD \(shopify\)$/m);
    expect(output).toMatch(/^ ✓ {2}Rendertokens {2}1,000 of 1,000 remain; reset Mon /m);
    expect(output).toMatch(/\nEverything is fine\.\n$/);
    expect(report.ok).toBe(true);
    expect(statusesOf(report)).toEqual(allOk);
  });

  it("prints values for machines under the same keys for each check", async () => {
    const { demo, ...emulator } = await emulate();
    const { checks } = (await examine(emulator)).report;
    for (const check of Object.values(checks)) {
      expect(Object.keys(check)).toEqual(["status", "message", "action", "details"]);
    }
    expect(checks.baseUrl?.details).toEqual({ url: emulator.baseUrl });
    expect(checks.connection?.details).toEqual({ kind: null, status: 200, tookMs: expect.any(Number) });
    expect(checks.key?.details).toEqual({ accepted: true });
    expect(checks.permissions?.details).toMatchObject({ denied: [], unavailable: [], failed: [] });
    expect(checks.environment?.details).toEqual({ environment: "test", source: "organization" });
    expect(checks.rateLimits?.details).toEqual({
      policies: { default: { quota: 3000, windowMs: 60_000, remaining: expect.any(Number) } },
    });
    expect(checks.stores?.details).toEqual({
      accepting: [demo.stores.api, demo.stores.wholesale],
      refusing: [{ reference: demo.stores.shopify, integration: "shopify" }],
    });
    expect(checks.rendertokens?.details).toMatchObject({ used: 0, limit: 1000, remaining: 1000 });
    expect(Math.abs(Number(checks.clock?.details.differenceMs))).toBeLessThan(5_000);
  });

  it("sends only validations of the key and GETs", async () => {
    const emulator = await emulate();
    await examine(emulator);
    const sent = new Set(emulator.requests.map(({ method, path }) => (method === "GET" ? "GET" : `${method} ${path}`)));
    expect(sent).toEqual(new Set(["GET", "POST /auth/validate"]));
    expect(emulator.requests.length).toBeLessThan(40);
  });

  it("says that it is the production environment", async () => {
    const { code, output } = await examine(await emulate({ environment: "production" }));
    expect(code).toBe(0);
    expect(output).toMatch(/✓ {2}Environment {3}Production, .+ orders are produced,/);
  });
});

describe("doctor on a service with a fault", () => {
  it("says that the key is refused, and checks what needs no key", async () => {
    const { baseUrl } = await emulate();
    const { code, output, report } = await examine({ baseUrl, secretKey: "another-5up3r53cr3t-key" });
    expect(code).toBe(1);
    expect(output).toMatch(
      /^ ✗ {2}Key {11}The service refuses the key \(401\)\.\n +→ Check that POD_PARTNER_SECRET_KEY/m,
    );
    expect(output).toMatch(/\n1 problem\.\n$/);
    expect(output + JSON.stringify(report)).not.toContain("5up3r53cr3t");
    expect(statusesOf(report)).toEqual({
      ...allOk,
      key: "failed",
      permissions: "skipped",
      environment: "skipped",
      rateLimits: "skipped",
      stores: "skipped",
      rendertokens: "skipped",
    });
    expect(report.checks.key?.details).toEqual({ accepted: false });
  });

  it("says that no store accepts orders from the API", async () => {
    const emulator = await emulate();
    const { stores } = emulator.demo;
    emulator.setStoreIntegration(stores.api, "woocommerce");
    emulator.setStoreIntegration(stores.wholesale, "shopify");
    const { code, output, report } = await examine(emulator);
    expect(code).toBe(1);
    expect(statusesOf(report)).toEqual({ ...allOk, stores: "failed" });
    expect(output).toMatch(
      /✗ {2}Stores {8}No store accepts orders from the API: DEMO \(woocommerce\),\n +WHOLE \(shopify\)/,
    );
    expect(report.checks.stores?.action).toMatch(/whose integration is api/);
  });

  it("says that no rendertokens remain, and when they reset", async () => {
    const { code, output, report } = await examine(await emulate({ rendertokenLimit: 0 }));
    expect(code).toBe(1);
    expect(statusesOf(report)).toEqual({ ...allOk, rendertokens: "failed" });
    expect(output).toMatch(
      /✗ {2}Rendertokens {2}No rendertokens remain of 0: the service refuses renders\.\n +→ Wait for the reset \(Mon/,
    );
  });

  it.each([
    [
      -5 * 60_000,
      "failed",
      /This machine is (5 minutes|4 minutes 59 seconds|5 minutes 1 second) ahead of the service\./,
    ],
    [5 * 60_000 + 10_000, "failed", /This machine is 5 minutes (9|10|11) seconds behind the service\./],
    [-20_000, "warning", /This machine is (19|20|21) seconds ahead of the service\./],
  ])("says that the clocks differ by %i ms: %s", async (difference, status, message) => {
    const { code, output, report } = await examine(await emulate({ clock: clockApart(difference) }));
    expect(code).toBe(status === "failed" ? 1 : 0);
    expect(report.checks.clock?.status).toBe(status);
    expect(output).toMatch(message);
    expect(Math.abs(Number(report.checks.clock?.details.differenceMs) - difference)).toBeLessThan(2_000);
  });

  it("names the resources that the key may not read", async () => {
    const emulator = await emulate();
    emulator.faults.add({ on: "orders.list", fault: "status", status: 403, code: "forbidden" });
    emulator.faults.add({ on: "claims.list", fault: "status", status: 403, code: "forbidden" });
    const { code, output, report } = await examine(emulator);
    expect(code).toBe(1);
    expect(statusesOf(report)).toEqual({ ...allOk, permissions: "failed" });
    expect(output).toMatch(/✗ {2}Permissions {3}The key may not read: orders, claims \(403\)\.\n +→ /);
    expect(report.checks.permissions?.details).toMatchObject({ denied: ["orders", "claims"] });
  });

  it.each<[name: string, fault: Fault, message: RegExp, action: RegExp]>([
    ["a 500", { fault: "status", status: 500 }, /returned 500/, /^Retry later\. Contact the service's support/],
    [
      "a 429",
      { fault: "status", status: 429, retryAfter: 99_000 },
      /returned 429/,
      /^Other programs use the limit of this key/,
    ],
    [
      "a list under another name",
      { fault: "body", body: '{"shops":[]}', type: "application/json" },
      /does not match the specification/,
      /^The service differs from the specification: `stores` .+\. Install the newest version/,
    ],
  ])("says what to do when the service returns %s for a resource", async (_, fault, message, action) => {
    const emulator = await emulate();
    emulator.faults.add({ on: "organization.stores.list", ...fault });
    const { code, output, report } = await examine(emulator);
    expect(code).toBe(1);
    expect(output).toMatch(/✗ {2}Permissions {3}stores could not be read\. /);
    expect(report.checks.permissions?.message).toMatch(message);
    expect(report.checks.permissions?.action).toMatch(action);
    expect(report.checks.stores?.status).toBe("skipped");
  });

  it("warns when the service offers an endpoint later", async () => {
    const emulator = await emulate();
    emulator.faults.add({ on: "scenes.list", fault: "status", status: 501, code: "not_implemented" });
    const { code, output } = await examine(emulator);
    expect(code).toBe(0);
    expect(output).toMatch(/^ ! {2}Permissions {3}The service does not offer yet: scenes \(501\)\.$/m);
    expect(output).toMatch(/\nNo problem, 1 warning\.\n$/);
  });

  it.each([
    [100, "warning", 0],
    [0, "failed", 1],
  ])("reports a rate limit of which %i requests remain", async (remaining, status, expected) => {
    const emulator = await emulate({ limits: { default: { quota: 3000, window: 86_400_000 } } });
    emulator.drain("default", { tokens: 3000 - remaining - (remaining === 0 ? 0 : 2) });
    const environment = { POD_PARTNER_BASE_URL: emulator.baseUrl, POD_PARTNER_SECRET_KEY: emulator.secretKey };
    const { code, output } = await runMain(["doctor", "--json"], environment);
    expect(code).toBe(expected);
    expect((JSON.parse(output) as Report).checks.rateLimits?.status).toBe(status);
  });
});

describe("doctor on a service with invisible characters in its texts", () => {
  const context = useService();

  it("prints them as escapes", async () => {
    const message = "one\nline \u001b[31m \u0085 \u009b \u061c \u200b \u202e \u2028 \u2066 \ufeff end";
    context.service.respondAlways({ status: 400, body: { code: message, message } });
    context.service.respond({ body: { message: "valid" } });
    const text = await runMain(["doctor"], {
      POD_PARTNER_BASE_URL: context.service.baseUrl,
      POD_PARTNER_SECRET_KEY: secretKey,
    });
    expect(text.output.replace(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/gu, "?")).toBe(text.output);
    for (const code of ["000A", "001B", "0085", "009B", "061C", "200B", "202E", "2028", "2066", "FEFF"])
      expect(text.output).toContain(`\\u${code}`);
  });
});
