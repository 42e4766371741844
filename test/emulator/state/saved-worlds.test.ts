import { createEmulator, createManualClock, type SavedWorld } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { setUp } from "../support.ts";
import { busy } from "./busy.ts";

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

  it("keeps the bytes of a fault's body", () => {
    const { emulator } = setUp();
    emulator.faults.add({ fault: "body", body: new Uint8Array([0x7b, 0xff]) });
    emulator.checkpoint();
    emulator.rewind();
    expect(emulator.world().faults[0]?.fault).toMatchObject({ body: new Uint8Array([0x7b, 0xff]) });
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
