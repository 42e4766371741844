import { PodPartner } from "pod-partner";
import { createEmulator, createManualClock, sampleImage } from "pod-partner/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { Paginator } from "../../../src/pagination/paginator.ts";
import { emulated, nameOf, endpoints as specified } from "../../conformance/support/endpoints.ts";
import { endpoints } from "../../support/endpoints.ts";
import { kindsIn, methodOf } from "../../support/methods.ts";
import { referencesIn } from "../../support/references.ts";

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

/** Methods that read with more than a reference, and records in a special state. */
const reads: Readonly<Record<string, (bench: Bench) => Promise<unknown>>> = {
  "auth.validate": ({ partner }) => partner.auth.validate(),
  "catalog.products.get of an announced product": ({ partner, demo }) =>
    partner.catalog.products.get(demo.products.slimCaseFold),
  "catalog.products.get of a prelaunched product": ({ partner, demo }) =>
    partner.catalog.products.get(demo.products.slimCaseNext),
  "catalog.products.changes": ({ partner }) => partner.catalog.products.changes(),
  "catalog.products.lookup": ({ partner }) => partner.catalog.products.lookup({ legacySku: "SLIM-IP16" }),
  "warehouse.items.changes": ({ partner }) => partner.warehouse.items.changes(),
  "perspectives.list with filters": ({ partner, demo }) =>
    partner.perspectives.list({ sceneReference: demo.scenes.studio, productReference: demo.products.slimCase }),
  "compositions.lookup": ({ partner, demo }) =>
    partner.compositions.lookup({
      sceneReference: demo.scenes.studio,
      productReference: demo.products.slimCase,
      perspectiveReference: demo.perspectives.front,
    }),
  "renders.get of a failed render": ({ partner, emulator, render }) => {
    emulator.failRender(render);
    return partner.renders.get(render);
  },
  "renders.get of a completed render": ({ partner, emulator, render }) => {
    emulator.completeRender(render);
    return partner.renders.get(render);
  },
  "renders.wait": ({ partner, emulator, render }) => {
    emulator.completeRender(render);
    return partner.renders.wait(render);
  },
  "orders.get of a combined order on hold": ({ partner, held }) => partner.orders.get(held.reference),
  "orders.quote": ({ partner, demo }) =>
    partner.orders.quote({
      storeReference: demo.stores.api,
      shippingKind: "dropship",
      dropshipAddress: { countryCode: "NL" },
      orderlines: [{ productReference: demo.products.slimCase, quantity: 1 }],
    }),
  "orders.lookup": ({ partner }) => partner.orders.lookup({ customIdentifier: "shop-1" }),
  "shipments.get of a combined shipment": ({ partner, combined }) =>
    partner.shipments.get(combined.shipments[0]?.reference ?? "Shipment_"),
  "claims.get of a pending claim": ({ partner, first }) =>
    partner.claims.get(first.shipments[1]?.claims[0] ?? "Claim_"),
};

/** The descriptor of a row: its name up to the first blank. */
const callOf = (name: string): string => name.split(" ", 1)[0] ?? name;

/** The endpoints of part 4 that read JSON. */
const reading = endpoints
  .filter(({ path }) => path.startsWith("/"))
  .filter(({ repeat, response }) => repeat === "safe" && ["field", "page", "whole"].includes(response.kind));

/** Those that take no more than the reference of a record, and that the emulator has a record for. */
const shown = new Set(emulated.map(([, endpoint]) => nameOf(endpoint)));
const plain = reading.filter((endpoint) => shown.has(nameOf(endpoint)));

describe('shapes: "minimal"', () => {
  it.each(Object.keys(reads))("%s is read", async (name) => {
    const bench = await setUp();
    onTestFinished(() => expect(bench.clock.pending).toBe(0));
    await expect(reads[name]?.(bench)).resolves.not.toThrow();
  });

  it.each(plain.map((endpoint) => [endpoint.call, endpoint] as const))("%s is read", async (call, endpoint) => {
    const { clock, partner, demo, emulator } = await setUp();
    onTestFinished(() => expect(clock.pending).toBe(0));
    const records = referencesIn([demo.products.slimCase, emulator.world(), demo]);
    const read = methodOf(partner, call)(...kindsIn(endpoint).map((kind) => records.get(kind)));
    await (read instanceof Paginator ? read.toArray() : read);
  });

  it("has a row for each other endpoint of part 4 that reads JSON, but for records that the emulator does not have", () => {
    const rows = new Set([...Object.keys(reads).map(callOf), ...plain.map(({ call }) => call)]);
    const without = specified.filter(({ notInEmulator }) => notInEmulator).map(nameOf);
    const others = reading.filter((endpoint) => !rows.has(endpoint.call) && !without.includes(nameOf(endpoint)));
    expect(others.map(({ call }) => call)).toEqual([]);
  });

  it("leaves a 501 without the error object, which only a 4xx promises", async () => {
    const emulator = createEmulator({ shapes: "minimal", unavailable: ["orders.quote"] });
    const headers = { "X-Service-Secret-Key": emulator.secretKey };
    const response = await emulator.fetch(`${emulator.baseUrl}/quote`, { method: "POST", headers });
    expect([response.status, await response.text()]).toEqual([501, ""]);
  });
});
