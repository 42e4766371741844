import { createEmulator, createManualClock, type SavedWorld } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { address, type Bench, setUp } from "../support.ts";

/** A world with an order, a shipment, a claim with evidence, a render, a fault and drawn tokens. */
async function busy(): Promise<Bench> {
  const bench = setUp({ seed: { orders: 2 } });
  const { emulator, demo, post } = bench;
  const imageReference = await bench.image();
  const order = {
    storeReference: demo.stores.api,
    shippingKind: "dropship",
    customIdentifier: "shop-1",
    dropshipAddress: address,
    orderlines: [{ productReference: demo.products.slimCase, imageReference, quantity: 2 }],
  };
  const { reference } = (await post("/orders", { order })).body.order;
  const shipmentReference = emulator.ship(reference);
  const claimline = {
    orderlineIndex: 1,
    quantity: 1,
    claimcategoryReference: demo.claimcategories.damaged,
    evidenceReferences: [await bench.evidence()],
  };
  const claim = { shipmentReference, orderReference: reference, claimlines: [claimline] };
  expect((await post("/claim-item-issues", { claim })).status).toBe(200);
  emulator.updateProduct(demo.products.wallet, { status: "ended", availableQuantity: 7 });
  emulator.faults.add({ on: "orders.create", nth: 3, fault: "drop" });
  emulator.drain("uploads", { tokens: 40 });
  return bench;
}

describe("a saved world", () => {
  it("is the same after it was loaded into another emulator", async () => {
    const { emulator } = await busy();
    const saved = emulator.world();
    const other = createEmulator({ clock: createManualClock("2027-01-01") });
    other.load(JSON.parse(JSON.stringify(saved)));
    expect(other.world()).toEqual(saved);
    expect(other.demo).toEqual(emulator.demo);
  });

  it("continues: orders are found, the next reference is new, evidence is served", async () => {
    const { emulator, get } = await busy();
    const saved = emulator.world();
    const before = (await get("/orders")).body;
    emulator.reset();
    expect((await get("/orders")).body.orders).toHaveLength(2);
    emulator.load(saved);
    expect((await get("/orders")).body).toEqual(before);
    const path = "/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=shop-1";
    expect((await get(path)).status).toBe(200);
    const [{ reference }] = (await get("/claims")).body.claims;
    const { claim } = (await get(`/claims/${reference}`)).body;
    const url: string = claim.claimlines[0].evidenceUrls[0];
    expect((await get(url.slice(emulator.baseUrl.length))).status).toBe(200);
  });

  it("does not change with the emulator that saved or loaded it", async () => {
    const { emulator } = await busy();
    const saved = emulator.world();
    const text = JSON.stringify(saved);
    emulator.load(saved);
    emulator.setStoreIntegration(emulator.demo.stores.api, "shopify");
    emulator.faults.clear();
    expect(JSON.stringify(saved)).toBe(text);
  });

  it("is refused if it is not one, and the state stays", async () => {
    const { emulator } = await busy();
    const before = emulator.world();
    for (const wrong of [null, 1, {}, { ...before, version: 2 }, { ...before, organizations: [{ orders: 1 }] }]) {
      expect(() => emulator.load(wrong as SavedWorld)).toThrow(/input of the control is not valid/);
    }
    expect(emulator.world()).toEqual(before);
  });
});

describe("a world that contradicts itself is refused, with the record and what is wrong, and the state stays", () => {
  type Change = (
    organization: { [List in "orders" | "shipments" | "claims" | "addresses" | "renders"]: Loose[] },
  ) => void;
  interface Loose {
    [field: string]: unknown;
  }
  const unknown = (kind: string) => `${kind}_${"0".repeat(26)}`;
  const set =
    (list: "orders" | "shipments" | "claims" | "addresses", field: string, value: unknown): Change =>
    (organization) =>
      Object.assign(organization[list].at(-1) ?? {}, { [field]: value });

  it.each<[string, Change, RegExp]>([
    [
      "an unknown store",
      set("orders", "storeReference", unknown("Store")),
      /Order_\w+ of Demo Prints names Store_0+, which/,
    ],
    ["an unknown address", set("orders", "dropshipAddressReference", unknown("Address")), /names Address_0+/],
    [
      "an unknown order of a shipment",
      set("shipments", "parcels", [{ orderReference: unknown("Order") }]),
      /names Order_0+/,
    ],
    [
      "an unknown shipment of a claim",
      set("claims", "shipmentReference", unknown("Shipment")),
      /Claim_\w+ .* names Shipment/,
    ],
    ["another number of uses", set("addresses", "uses", 7), /has `uses` 7, but 2 orders and shipments use it/],
    [
      "too many shipped",
      (all) =>
        Object.assign(all.orders[0]?.lines as object[], [
          { index: 1, quantity: 1, shippedQuantity: 2, canceledQuantity: 0 },
        ]),
      /has 2 shipped and 0 canceled of 1/,
    ],
    ["an order that occurs twice", ({ orders }) => orders.push(orders[0] ?? {}), /occurs more than once/],
  ])("%s", async (_case, change, message) => {
    const { emulator } = await busy();
    const before = emulator.world();
    const wrong = structuredClone(before);
    change(wrong.organizations[0] as never);
    expect(() => emulator.load(wrong)).toThrow(message);
    expect(emulator.world()).toEqual(before);
  });
});

describe("a checkpoint", () => {
  it("brings the state back as often as wanted", async () => {
    const { emulator } = await busy();
    const before = emulator.world();
    emulator.checkpoint();
    for (const round of [1, 2]) {
      emulator.setStoreIntegration(emulator.demo.stores.api, `shopify-${round}`);
      emulator.rewind();
      expect(emulator.world()).toEqual(before);
    }
  });

  it("has a name, and an unknown name is refused", async () => {
    const { emulator } = await busy();
    emulator.checkpoint({ name: "shipped" });
    emulator.reset();
    expect(() => emulator.rewind()).toThrow("There is no checkpoint named default");
    emulator.rewind({ name: "shipped" });
    expect(emulator.world().organizations[0]?.shipments).toHaveLength(1);
  });
});

it("a reset brings back the start, with the same references", async () => {
  const { emulator, demo } = setUp({ seed: { number: 3, orders: 1 } });
  const before = emulator.world();
  emulator.drain("default");
  emulator.setStoreIntegration(demo.stores.api, "shopify");
  await emulator.clock.advance({ days: 3 });
  emulator.reset();
  const { clock: _then, ...state } = before;
  expect(emulator.world()).toMatchObject(state);
});
