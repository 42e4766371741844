import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError, PodPartner } from "pod-partner";
import {
  createEmulator,
  createManualClock,
  type EmulatorAssumptions,
  type EmulatorOptions,
  validOrder,
} from "pod-partner/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { emulatorAssumptions } from "../../src/emulator/settings/assumed.ts";
import { readGaps } from "../../src/schemas/gaps.ts";

const measured = {
  version: 1,
  date: "2026-11-27T13:00:00.000Z",
  assumptions: { customIdentifierParameter: "identifier", orderReferenceField: "reference", noOrder: ["empty"] },
  emulator: { repeatedIdentifier: "refuse", pageSize: 2, errorField: "error" },
  measured: { "lookup-parameter": "identifier" },
} as const;

/** Writes a file that is removed when the test ends. */
function fileOf(content: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), "assumptions-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "assumptions.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

function issuesOf(make: () => unknown) {
  try {
    make();
  } catch (error) {
    if (error instanceof ConfigurationError)
      return error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
    throw error;
  }
  return [];
}

async function firstPage(partner: PodPartner): Promise<readonly unknown[]> {
  for await (const { items } of partner.orders.list().pages()) return items;
  return [];
}

const address = { baseUrl: "https://test.example/v2", secretKey: "sk_test_1234567890" };

describe("the option `assumptions`", () => {
  const forms = {
    "the content of a file": () => measured,
    "the path of a file": () => fileOf(measured),
    "the path in POD_PARTNER_ASSUMPTIONS": () => {
      vi.stubEnv("POD_PARTNER_ASSUMPTIONS", fileOf(measured));
      onTestFinished(() => void vi.unstubAllEnvs());
      return undefined;
    },
  };
  for (const [name, give] of Object.entries(forms)) {
    it(`of the client and of the emulator takes ${name}`, async () => {
      const assumptions = give();
      const emulator = createEmulator({ assumptions, seed: { orders: 3 } });
      const { fetch, baseUrl, secretKey } = emulator;
      const partner = new PodPartner({ fetch, baseUrl, secretKey, assumptions });
      const order = validOrder(emulator, { customIdentifier: "shop-1" });
      const { reference } = await partner.orders.ensure(order);
      expect(await partner.orders.ensure(order)).toMatchObject({ reference, existed: true });
      const [look] = emulator.requests.where({ on: "orders.lookup" });
      expect(look?.path).toContain("?identifier=shop-1");
      expect(look?.status).toBe(204);
      const twice = await partner.request("POST", "/orders", { body: { order } }).catch((error: unknown) => error);
      expect(twice).toMatchObject({ status: 409, code: "custom_identifier_taken" });
      expect(await firstPage(partner)).toHaveLength(2);
    });
  }

  it("has single assumptions that win over those of the file in POD_PARTNER_ASSUMPTIONS", async () => {
    vi.stubEnv("POD_PARTNER_ASSUMPTIONS", fileOf(measured));
    onTestFinished(() => void vi.unstubAllEnvs());
    const assumptions = { orderReferenceField: "found", processingTime: 1_000 };
    const emulator = createEmulator({ assumptions });
    const { fetch, baseUrl, secretKey } = emulator;
    const partner = new PodPartner({ fetch, baseUrl, secretKey, assumptions });
    const order = validOrder(emulator, { customIdentifier: "shop-1" });
    await partner.orders.ensure(order);
    expect(await partner.orders.ensure(order)).toMatchObject({ existed: true });
    const [look] = emulator.requests.where({ on: "orders.lookup", status: 200 });
    expect(look?.path).toContain("?identifier=shop-1");
    expect(JSON.stringify(look)).toContain("found");
  });

  it("of the emulator is that of its client", async () => {
    const emulator = createEmulator({ assumptions: measured });
    const partner = new PodPartner(emulator.clientOptions);
    const order = validOrder(emulator, { customIdentifier: "shop-1" });
    expect(await partner.orders.ensure(order)).toMatchObject({ existed: false });
    expect(await partner.orders.ensure(order)).toMatchObject({ existed: true });
  });

  it("of the emulator is weaker than its other options", async () => {
    const emulator = createEmulator({ assumptions: measured, pageSize: 3, seed: { orders: 4 } });
    expect(await firstPage(new PodPartner(emulator.clientOptions))).toHaveLength(3);
  });

  const wrong: readonly (readonly [name: string, content: unknown, issues: readonly unknown[]])[] = [
    [
      "an unknown key",
      { ...measured, assumptions: { noOrders: [] } },
      ["assumptions.assumptions.noOrders is not a known field of a file of assumptions; did you mean `noOrder`?"],
    ],
    ["a wrong value", { ...measured, assumptions: { processingTime: 0 } }, [expect.stringContaining("processingTime")]],
    ["another version", { ...measured, version: 2 }, [expect.stringContaining("assumptions.version expected 1")]],
    ["no date", { ...measured, date: "yesterday" }, [expect.stringContaining("assumptions.date expected the date")]],
    [
      "a day alone",
      { ...measured, date: "2026-11-28" },
      [expect.stringContaining("assumptions.date expected the date")],
    ],
    [
      "a day that does not exist",
      { ...measured, date: "2026-02-30T00:00:00Z" },
      [expect.stringContaining("assumptions.date expected the date")],
    ],
    ["no JSON", "{", [expect.stringMatching(/assumptions the file ".*assumptions\.json" cannot be read/)]],
  ];
  for (const [name, content, issues] of wrong) {
    it(`refuses a file with ${name}, with the path`, () => {
      const assumptions = fileOf(content);
      expect(issuesOf(() => new PodPartner({ ...address, assumptions }))).toEqual(issues);
      expect(issuesOf(() => createEmulator({ assumptions }))).toEqual(issues);
    });
  }

  it("refuses a file that is not there, and names the variable", () => {
    vi.stubEnv("POD_PARTNER_ASSUMPTIONS", "/nowhere/assumptions.json");
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const make of [() => new PodPartner(address), () => createEmulator()]) {
      expect(issuesOf(make)).toEqual([expect.stringMatching(/^POD_PARTNER_ASSUMPTIONS the file .* cannot be read/)]);
    }
  });

  it("of the emulator refuses unknown and wrong assumptions of the emulator, with their paths", () => {
    const file = { ...measured, emulator: { pagesize: 2, statuses: { not_found: 200 } } } as const;
    expect(issuesOf(() => createEmulator({ assumptions: file }))).toEqual([
      expect.stringContaining("assumptions.emulator.statuses.not_found"),
      "assumptions.emulator.pagesize is not a known assumption; did you mean `pageSize`?",
    ]);
    expect(new PodPartner({ ...address, assumptions: file })).toBeDefined();
    const given = { errorFeld: "error" } as EmulatorOptions["assumptions"];
    expect(issuesOf(() => createEmulator({ assumptions: given }))).toEqual([
      "assumptions.errorFeld is not a known assumption; did you mean `errorField`?",
    ]);
  });
});

it("every assumption of the emulator is named by a gap, and only those", () => {
  const named = readGaps()
    .flatMap(({ options = [] }) => options)
    .flatMap((option) => (option.startsWith("assumptions.") ? [option.slice("assumptions.".length)] : []));
  const ofClient = new Set(["processingTime", "lookupTime"]);
  expect([...new Set(named)].sort()).toEqual(
    Object.keys(emulatorAssumptions)
      .filter((key) => !ofClient.has(key))
      .sort(),
  );
});

describe("the emulator behaves as it is assumed of the service:", () => {
  const emulate = (assumptions: Partial<EmulatorAssumptions>, options: EmulatorOptions = {}) => {
    const emulator = createEmulator({ ...options, assumptions });
    const partner = new PodPartner({ ...emulator.clientOptions, responses: "report" });
    const ask = (
      method: string,
      path: string,
      { body, key = emulator.secretKey }: { body?: unknown; key?: string } = {},
    ) =>
      emulator.fetch(`${emulator.baseUrl}${path}`, {
        method,
        headers: {
          ...(key && { "X-Service-Secret-Key": key }),
          ...(body !== undefined && { "Content-Type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    return { emulator, partner, ask };
  };

  it("lists under other names, and the client reads them", async () => {
    const fields = { "organization.stores.list": "data", "catalog.packagings.list": null } as const;
    const { partner, ask } = emulate({ fields, cursorOfLists: true });
    expect(Object.keys((await (await ask("GET", "/stores")).json()) as object)).toEqual(["data", "nextCursor"]);
    expect(await partner.organization.stores.list()).toHaveLength(3);
    expect(await (await ask("GET", "/packagings")).json()).toBeInstanceOf(Array);
    expect(await partner.catalog.packagings.list()).toHaveLength(2);
  });

  it("creations with another status, codes with another status, the error object in a field", async () => {
    const { emulator, partner, ask } = emulate({
      createdStatus: { "orders.create": 201 },
      statuses: { missing_address: 422 },
      errorField: "error",
    });
    const order = validOrder(emulator);
    const { response } = await partner.orders.create(order).withResponse();
    expect(response.status).toBe(201);
    const { dropshipAddress: _, ...without } = order;
    const refused = await ask("POST", "/orders", { body: { order: without } });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ error: { code: "missing_address" } });
  });

  it("addresses with required fields and lengths", async () => {
    const { emulator, partner } = emulate({
      requiredAddressFields: ["countryCode", "email", "phonenumber"],
      addressLengths: { city: 10 },
    });
    const order = validOrder(emulator);
    await expect(partner.orders.create(order)).rejects.toMatchObject({ status: 400 });
    const dropshipAddress = { ...order.dropshipAddress, phonenumber: "+31 20 1234567" };
    await partner.orders.create({ ...order, dropshipAddress });
    const city = "Amsterdam-Noord";
    await expect(
      partner.orders.create({ ...order, dropshipAddress: { ...dropshipAddress, city } }),
    ).rejects.toMatchObject({
      status: 400,
    });
  });

  it("orders that name their shipments in a field", async () => {
    const { emulator, partner } = emulate({ shipmentsField: "parcels" });
    const { reference } = await partner.orders.create(validOrder(emulator, { customIdentifier: "shop-1" }));
    const { reference: other } = await partner.orders.create(validOrder(emulator, { customIdentifier: "shop-2" }));
    expect(await partner.orders.get(reference)).toMatchObject({ parcels: [] });
    const shipment = emulator.ship(reference);
    emulator.ship(other);
    expect(await partner.orders.get(reference)).toMatchObject({ parcels: [{ reference: shipment }] });
  });

  it("an order that the look-up, the list and the read show late", async () => {
    const clock = createManualClock();
    const { emulator, partner } = emulate({ visibleAfter: { lookup: 1_000, list: 2_000, read: 3_000 } }, { clock });
    const { reference } = await partner.orders.create(validOrder(emulator, { customIdentifier: "shop-1" }));
    const shown = async () => {
      const page = await firstPage(partner);
      const looks = [partner.orders.lookup({ customIdentifier: "shop-1" }), partner.orders.get(reference)];
      const [lookup, read] = await Promise.allSettled<unknown>(looks);
      return [lookup?.status, page.length, read?.status];
    };
    expect(await shown()).toEqual(["rejected", 0, "rejected"]);
    await clock.advance(1_000);
    expect(await shown()).toEqual(["fulfilled", 0, "rejected"]);
    await clock.advance(2_000);
    expect(await shown()).toEqual(["fulfilled", 1, "fulfilled"]);
  });

  it("lists from the oldest, each order once, and cursors that can be used once", async () => {
    const { partner } = emulate(
      { listOrder: "oldest-first", cursorReuse: false },
      { seed: { orders: 7 }, pageSize: 3 },
    );
    const all = await partner.orders.list().toArray();
    expect(new Set(all.map(({ reference }) => reference)).size).toBe(7);
    const codes = await Promise.all(
      all.map(async ({ reference }) => (await partner.orders.get(reference)).legacyOrderCode),
    );
    expect(codes).toEqual([...codes].sort());
    const { nextCursor } = (await partner.request("GET", "/orders")) as { nextCursor: string };
    const query = { cursor: nextCursor };
    // The first loop has used it.
    await expect(partner.request("GET", "/orders", { query })).rejects.toMatchObject({ status: 400 });
  });

  it("rate limits before the request, of all policies", async () => {
    const { ask } = emulate({ remaining: "before", namedPolicies: "all" });
    const { headers } = await ask("GET", "/stores");
    expect(headers.get("X-RateLimit")).toBe('"default";r=3000;t=0, "uploads";r=5000;t=0, "downloads";r=100000;t=0');
  });

  it("files without a key, other requests with one", async () => {
    const { emulator, ask } = emulate({ filesNeedKey: false, layerCacheControl: "public, max-age=60" });
    const product = emulator.demo.products.slimCase;
    const file = await ask("GET", `/products/${product}/media/example.png`, { key: "" });
    expect(file.status).toBe(200);
    const layer = await ask("GET", `/products/${product}/layers/base.png`, { key: "" });
    expect(layer.headers.get("Cache-Control")).toBe("public, max-age=60");
    expect((await ask("GET", "/stores", { key: "" })).status).toBe(401);
  });

  it("cancellations and look-ups of canceled orders", async () => {
    const { emulator, partner, ask } = emulate({
      repeatedLine: "last",
      emptyCancellation: "refuse",
      findsCanceled: false,
      absentValue: "missing",
      statusCodes: { canceled: "CANCELLED" },
    });
    const { reference } = await partner.orders.create(validOrder(emulator, { customIdentifier: "shop-1" }));
    const path = `/orders/${reference}/cancel`;
    const line = { index: 1, canceledQuantity: 1 };
    expect((await ask("POST", path, { body: { orderlines: [] } })).status).toBe(400);
    expect((await ask("POST", path, { body: { orderlines: [line, line] } })).status).toBe(204);
    expect(await partner.orders.get(reference)).toMatchObject({ status: { code: "CANCELLED" } });
    await expect(partner.orders.lookup({ customIdentifier: "shop-1" })).rejects.toMatchObject({ status: 404 });
  });

  it("requests: parameters, bodies, filters, timestamps, quantities, fields and countries", async () => {
    const lenient = emulate({
      unknownParameters: "ignore",
      contentWithoutBody: "ignore",
      smallestQuantity: 0,
      orderFields: ["brandReference"],
      checksEmail: false,
      deniedCountries: [],
    });
    expect((await lenient.ask("GET", "/orders?limit=1")).status).toBe(200);
    expect((await lenient.ask("POST", "/auth/validate", { body: { a: 1 } })).status).toBe(200);
    const order = validOrder(lenient.emulator);
    const [line] = order.orderlines;
    const dropshipAddress = { ...order.dropshipAddress, email: "nobody", countryCode: "RU" };
    const odd = { ...order, dropshipAddress, orderlines: [{ ...line, quantity: 0 }], brandReference: "any" };
    expect((await lenient.ask("POST", "/orders", { body: { order: odd } })).status).toBe(200);

    const severe = emulate({
      unknownFilter: "refuse",
      closedAfterForms: ["offset"],
      unassignedCountry: "refuse",
      identifierLength: 5,
    });
    const scene = `Scene_${"0".repeat(26)}`;
    expect((await severe.ask("GET", `/perspectives?sceneReference=${scene}`)).status).toBe(404);
    for (const [form, status] of [
      ["2026-01-01", 400],
      ["2026-01-01T00:00:00", 400],
      ["2026-01-01T00:00:00Z", 200],
    ] as const) {
      expect((await severe.ask("GET", `/claims?closedAfter=${form}`)).status).toBe(status);
    }
    const other = validOrder(severe.emulator, { customIdentifier: "shop-1" });
    expect((await severe.ask("POST", "/orders", { body: { order: other } })).status).toBe(400);
    const away = { ...other, customIdentifier: "s", dropshipAddress: { ...other.dropshipAddress, countryCode: "QX" } };
    expect((await severe.ask("POST", "/orders", { body: { order: away } })).status).toBe(400);
  });

  it("identifiers that are unique in a store, evidence with one reference, slow creations", async () => {
    const clock = createManualClock();
    const { emulator, partner } = emulate(
      { identifierScope: "store", identicalEvidence: "same", creationTime: 20_000 },
      { clock },
    );
    const order = validOrder(emulator, { customIdentifier: "shop-1" });
    const created = partner.orders.create(order);
    await clock.advance(19_999);
    expect(emulator.world().organizations[0]?.orders).toHaveLength(0);
    await clock.advance(1);
    const { reference } = await created;
    const elsewhere = partner.request("POST", "/orders", {
      body: { order: { ...order, storeReference: emulator.demo.stores.wholesale } },
    });
    await clock.advance(20_000);
    expect(await elsewhere).not.toMatchObject({ order: { reference } });
  });
});
