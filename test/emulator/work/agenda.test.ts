import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { placeOrder, problem, setUp } from "../support.ts";

describe("the weekly reset of the rendertokens", () => {
  it.each([
    [
      "the week in which summer time begins",
      "2026-03-23T12:00:00Z",
      "2026-03-29T22:00:00.000Z",
      "2026-03-30T00:00:00+02:00",
    ],
    ["the week after it", "2026-03-30T12:00:00Z", "2026-04-05T22:00:00.000Z", "2026-04-06T00:00:00+02:00"],
    [
      "the week in which summer time ends",
      "2026-10-19T12:00:00Z",
      "2026-10-25T23:00:00.000Z",
      "2026-10-26T00:00:00+01:00",
    ],
    ["the week after it", "2026-10-26T12:00:00Z", "2026-11-01T23:00:00.000Z", "2026-11-02T00:00:00+01:00"],
  ])("of %s is on Monday, 00:00 in Amsterdam", async (_name, start, reset, text) => {
    const bench = setUp({ clock: createManualClock(start) });
    const { get, post, demo, image, emulator } = bench;
    const query = `sceneReference=${demo.scenes.studio}&productReference=${demo.products.slimCase}&perspectiveReference=${demo.perspectives.front}`;
    const compositionReference = (await get(`/lookup-composition?${query}`)).body.composition.reference;
    await post("/renders", { render: { compositionReference, imageReference: await image() } });
    const tokens = async () => (await get("/rendertokens")).body.rendertokens;
    expect(await tokens()).toMatchObject({ used: 1, resets: text });
    await emulator.clock.set(Date.parse(reset) - 1);
    expect(await tokens()).toMatchObject({ used: 1, resets: text });
    await emulator.clock.advance(1);
    expect(await tokens()).toMatchObject({ used: 0 });
    const week = 7 * 86_400_000;
    expect(Math.abs(Date.parse((await tokens()).resets) - Date.parse(reset) - week)).toBeLessThanOrEqual(3_600_000);
  });

  it("of two weeks is passed by one jump over both", async () => {
    const { emulator, get } = setUp({ clock: createManualClock("2026-10-20T00:00:00Z") });
    expect((await get("/rendertokens")).body.rendertokens.resets).toBe("2026-10-26T00:00:00+01:00");
    await emulator.clock.advance({ days: 14 });
    expect((await get("/rendertokens")).body.rendertokens.resets).toBe("2026-11-09T00:00:00+01:00");
  });
});

describe("by the emulator's clock", () => {
  it("unused evidence is deleted after a day", async () => {
    const { emulator, evidence, get } = setUp();
    const reference = await evidence();
    await emulator.clock.advance({ hours: 23, minutes: 59 });
    expect((await get(`/evidence/${reference}`)).status).toBe(200);
    await emulator.clock.advance({ minutes: 1 });
    expect((await get(`/evidence/${reference}`)).status).toBe(404);
  });

  it("a package can be claimed as missing after its delivery window, and until the warranty ends", async () => {
    const bench = setUp();
    const claim = { shipmentReference: bench.emulator.ship(await placeOrder(bench)) };
    const file = () => bench.post("/claim-package-missing", { claim });
    expect(problem(await file()).code).toBe("shipment_too_recent");
    await bench.emulator.clock.advance({ days: 100, seconds: 1 });
    expect(problem(await file()).code).toBe("warranty_expired");
    bench.emulator.reset();
    const later = { shipmentReference: bench.emulator.ship(await placeOrder(bench)) };
    await bench.emulator.clock.advance({ days: 4 });
    expect((await bench.post("/claim-package-missing", { claim: later })).status).toBe(200);
  });
});
