import { type PartnerClock, PodPartner } from "pod-partner";
import {
  createEmulator,
  createManualClock,
  startEmulator,
  validAddress,
  validItemIssues,
  validOrder,
  validPackageMissing,
  validQuote,
  validRender,
} from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { problem, setUp, unknownReference } from "../support.ts";

describe("`clientOptions`", () => {
  it("make a client of an emulator without a port", async () => {
    const { emulator } = setUp();
    expect(await new PodPartner(emulator.clientOptions).auth.validate()).toEqual({ message: expect.any(String) });
  });

  it("make a client of an emulator on a port, which sends over the network", async () => {
    await using emulator = await startEmulator();
    expect(emulator.clientOptions).toEqual({
      responses: "throw",
      baseUrl: emulator.baseUrl,
      secretKey: emulator.secretKey,
    });
    expect(await new PodPartner(emulator.clientOptions).auth.validate()).toEqual({ message: expect.any(String) });
  });

  it("share the clock of the emulator's options", () => {
    const clock: PartnerClock = createManualClock();
    expect(createEmulator({ clock }).clientOptions.clock).toBe(clock);
    expect(createEmulator().clientOptions).not.toHaveProperty("clock");
  });
});

describe("the input of a builder is accepted", () => {
  it("as a dropship order and as a combined order", async () => {
    const { emulator, post } = setUp();
    for (const order of [validOrder(emulator), validOrder(emulator, { shippingKind: "combined" })]) {
      const { status, body } = await post("/orders", { order });
      expect([status, body]).toEqual([200, { order: { reference: expect.stringMatching(/^Order_/) } }]);
    }
    expect(validOrder(emulator, { shippingKind: "combined" })).not.toHaveProperty("dropshipAddress");
  });

  it("as a quote", async () => {
    const { emulator, post } = setUp();
    const { body } = await post("/quote", { quote: validQuote(emulator) });
    expect(body.shippingOptions.map(({ level }: { level: string }) => level)).toEqual(["basic", "tracked", "express"]);
    expect((await post("/quote", { quote: validQuote(emulator, { shippingKind: "combined" }) })).body).toEqual({
      shippingOptions: [],
    });
  });

  it("as a render", async () => {
    const { emulator, post } = setUp();
    expect((await post("/renders", { render: validRender(emulator) })).status).toBe(200);
    const campaign = validRender(emulator, { compositionReference: emulator.demo.compositions.campaign });
    expect((await post("/renders", { render: campaign })).status).toBe(200);
  });

  it("as claims of both kinds, each about a shipment of its own", async () => {
    const { emulator, post, get } = setUp();
    for (const _again of [1, 2]) {
      expect((await post("/claim-package-missing", { claim: validPackageMissing(emulator) })).status).toBe(200);
      expect((await post("/claim-item-issues", { claim: validItemIssues(emulator) })).status).toBe(200);
    }
    expect((await get("/claims")).body.claims).toHaveLength(4);
  });

  it("through the client, with its types", async () => {
    const { emulator } = setUp();
    const partner = new PodPartner(emulator.clientOptions);
    const { reference } = await partner.orders.create(validOrder(emulator, { customIdentifier: "shop-1" }));
    expect(await partner.orders.lookup({ customIdentifier: "shop-1" })).toBe(reference);
    await partner.orders.replaceDropshipAddress(reference, validAddress({ city: "Utrecht" }));
    expect((await partner.claims.createItemIssues(validItemIssues(emulator))).reference).toMatch(/^Claim_/);
    expect(await partner.orders.quote(validQuote(emulator))).toHaveLength(3);
  });
});

describe("a builder", () => {
  it("replaces fields by the overrides, so that each refusal needs one field", async () => {
    const { emulator, post, demo } = setUp();
    const refusal = async (path: string, body: unknown) => problem(await post(path, body));
    const order = validOrder(emulator, { storeReference: demo.stores.shopify });
    expect(await refusal("/orders", { order })).toEqual({ status: 403, code: "store_not_writable_via_api" });
    const quote = validQuote(emulator, { dropshipAddress: validAddress({ countryCode: "KP" }) });
    expect(await refusal("/quote", { quote })).toEqual({ status: 400, code: "invalid_address_denied_country" });
    const [line] = validItemIssues(emulator).claimlines;
    if (line === undefined) throw new Error("no claimline");
    const claim = validItemIssues(emulator, { claimlines: [{ ...line, orderlineIndex: 9 }] });
    expect(await refusal("/claim-item-issues", { claim })).toEqual({ status: 400, code: "orderline_not_in_shipment" });
    const render = validRender(emulator, { imageReference: unknownReference("Image") as `Image_${string}` });
    expect((await refusal("/renders", { render })).status).toBe(400);
  });

  it("sends no request: no log entry, no token, no fault", () => {
    const { emulator } = setUp();
    const fault = emulator.faults.add({ fault: "drop" });
    const { rateLimits } = emulator.world().organizations[0] ?? {};
    validOrder(emulator);
    validItemIssues(emulator);
    validRender(emulator);
    expect([emulator.requests.length, fault.hits]).toEqual([0, 0]);
    expect(emulator.world().organizations[0]?.rateLimits).toEqual(rateLimits);
  });
});
