import { PodPartner } from "pod-partner";
import { createEmulator, createManualClock, sampleImage } from "pod-partner/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { allRoutes } from "../../src/emulator/routes/table.ts";
import { endpoints as specified } from "../conformance/support/endpoints.ts";

/** A client of a service that sends only what the specification promises, with a record of each kind. */
async function setUp() {
  const clock = createManualClock("2026-11-02T09:00:00Z");
  const emulator = createEmulator({ shapes: "minimal", clock });
  const { demo } = emulator;
  const partner = new PodPartner(emulator.clientOptions);
  const seeded = emulator.seed({
    orders: [
      {
        customIdentifier: "shop-1",
        daysAgo: 20,
        dropshipMinimalShippingLevel: "tracked",
        orderlines: [{ quantity: 3 }, { product: "screenProtector" }],
        shipments: [
          { daysAgo: 18, lines: [{ index: 1, quantity: 2 }], claims: [{ category: "damaged", decision: "refund" }] },
          { daysAgo: 17, claims: [{ category: "packageMissing", daysAgo: 2 }] },
        ],
      },
      { shippingKind: "combined", onHold: "Waiting for stock" },
      { shippingKind: "combined", shipments: [{}] },
    ],
  });
  const [first, held, combined] = seeded.orders;
  if (first === undefined || held === undefined || combined === undefined) throw new Error("Three orders were seeded");
  const { reference: imageReference } = await partner.images.upload(sampleImage());
  const compositionReference = demo.compositions.studio;
  const { reference: render } = await partner.renders.create({ compositionReference, imageReference });
  return { clock, emulator, demo, partner, first, held, combined, render, imageReference };
}

type Bench = Awaited<ReturnType<typeof setUp>>;

/** Each method that reads, with what it needs. */
const reads: Readonly<Record<string, (bench: Bench) => Promise<unknown>>> = {
  "auth.validate": ({ partner }) => partner.auth.validate(),
  "organization.get": ({ partner }) => partner.organization.get(),
  "organization.accounts.list": ({ partner }) => partner.organization.accounts.list(),
  "organization.stores.list": ({ partner }) => partner.organization.stores.list(),
  "organization.brands.list": ({ partner }) => partner.organization.brands.list(),
  "catalog.products.list": ({ partner }) => partner.catalog.products.list().toArray(),
  "catalog.products.get": ({ partner, demo }) => partner.catalog.products.get(demo.products.slimCase),
  "catalog.products.get of an announced product": ({ partner, demo }) =>
    partner.catalog.products.get(demo.products.slimCaseFold),
  "catalog.products.get of a prelaunched product": ({ partner, demo }) =>
    partner.catalog.products.get(demo.products.slimCaseNext),
  "catalog.products.changes": ({ partner }) => partner.catalog.products.changes(),
  "catalog.products.lookup": ({ partner }) => partner.catalog.products.lookup({ legacySku: "SLIM-IP16" }),
  "catalog.packagings.list": ({ partner }) => partner.catalog.packagings.list(),
  "catalog.productgroups.list": ({ partner }) => partner.catalog.productgroups.list(),
  "warehouse.items.list": ({ partner }) => partner.warehouse.items.list().toArray(),
  "warehouse.items.changes": ({ partner }) => partner.warehouse.items.changes(),
  "addresses.get": async ({ partner, first }) => {
    const { dropshipAddressReference } = await partner.orders.get(first.reference);
    if (dropshipAddressReference == null) throw new Error("A dropship order has an address");
    return partner.addresses.get(dropshipAddressReference);
  },
  "images.list": ({ partner }) => partner.images.list().toArray(),
  "scenes.list": ({ partner }) => partner.scenes.list(),
  "scenes.get": ({ partner, demo }) => partner.scenes.get(demo.scenes.studio),
  "perspectives.list": ({ partner }) => partner.perspectives.list(),
  "perspectives.list with filters": ({ partner, demo }) =>
    partner.perspectives.list({ sceneReference: demo.scenes.studio, productReference: demo.products.slimCase }),
  "perspectives.get": ({ partner, demo }) => partner.perspectives.get(demo.perspectives.front),
  "compositions.lookup": ({ partner, demo }) =>
    partner.compositions.lookup({
      sceneReference: demo.scenes.studio,
      productReference: demo.products.slimCase,
      perspectiveReference: demo.perspectives.front,
    }),
  "compositions.get": ({ partner, demo }) => partner.compositions.get(demo.compositions.studio),
  "renders.get of a pending render": ({ partner, render }) => partner.renders.get(render),
  "renders.get of a failed render": ({ partner, emulator, render }) => {
    emulator.failRender(render);
    return partner.renders.get(render);
  },
  "renders.get": ({ partner, emulator, render }) => {
    emulator.completeRender(render);
    return partner.renders.get(render);
  },
  "renders.wait": ({ partner, emulator, render }) => {
    emulator.completeRender(render);
    return partner.renders.wait(render);
  },
  "rendertokens.get": ({ partner }) => partner.rendertokens.get(),
  "orders.list": ({ partner }) => partner.orders.list().toArray(),
  "orders.get": ({ partner, first }) => partner.orders.get(first.reference),
  "orders.get of a combined order on hold": ({ partner, held }) => partner.orders.get(held.reference),
  "orders.quote": ({ partner, demo }) =>
    partner.orders.quote({
      storeReference: demo.stores.api,
      shippingKind: "dropship",
      dropshipAddress: { countryCode: "NL" },
      orderlines: [{ productReference: demo.products.slimCase, quantity: 1 }],
    }),
  "orders.lookup": ({ partner }) => partner.orders.lookup({ customIdentifier: "shop-1" }),
  "shipments.get": ({ partner, first }) => partner.shipments.get(first.shipments[0]?.reference ?? "Shipment_"),
  "shipments.get of a combined shipment": ({ partner, combined }) =>
    partner.shipments.get(combined.shipments[0]?.reference ?? "Shipment_"),
  "claims.categories.list": ({ partner }) => partner.claims.categories.list(),
  "claims.list": ({ partner }) => partner.claims.list().toArray(),
  "claims.get": ({ partner, first }) => partner.claims.get(first.shipments[0]?.claims[0] ?? "Claim_"),
  "claims.get of a pending claim": ({ partner, first }) =>
    partner.claims.get(first.shipments[1]?.claims[0] ?? "Claim_"),
};

/** The descriptor of a row: its name up to the first blank. */
const callOf = (name: string): string => name.split(" ", 1)[0] ?? name;

describe('shapes: "minimal"', () => {
  it.each(Object.keys(reads))("%s is read", async (name) => {
    const bench = await setUp();
    onTestFinished(() => expect(bench.clock.pending).toBe(0));
    await expect(reads[name]?.(bench)).resolves.not.toThrow();
  });

  it("has a row for each endpoint of part 4 that reads JSON", () => {
    const reading = allRoutes
      .map(({ endpoint }) => endpoint)
      .filter(({ method, path }) => specified.some((one) => one.method === method && one.path === path))
      .filter(({ repeat, response }) => repeat === "safe" && ["field", "page", "whole"].includes(response.kind));
    const rows = new Set(Object.keys(reads).map(callOf));
    expect(reading.map(({ call }) => call).filter((call) => !rows.has(call))).toEqual([]);
  });

  it("leaves a 501 without the error object, which only a 4xx promises", async () => {
    const emulator = createEmulator({ shapes: "minimal", unavailable: ["orders.quote"] });
    const headers = { "X-Service-Secret-Key": emulator.secretKey };
    const response = await emulator.fetch(`${emulator.baseUrl}/quote`, { method: "POST", headers });
    expect([response.status, await response.text()]).toEqual([501, ""]);
  });
});
