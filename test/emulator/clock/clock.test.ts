import { createEmulator, createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { setUp } from "../support.ts";

const start = "2026-11-02T09:00:00.000Z";
const at = (ms: number) => new Date(ms).toISOString();

describe("the emulator's clock", () => {
  it("passes like the clock of the options", async () => {
    const { clock, emulator } = setUp();
    await clock.advance(1_500);
    expect(at(emulator.clock.now())).toBe("2026-11-02T09:00:01.500Z");
    expect(emulator.clock.speed).toBe(1);
  });

  it("is moved forward without the clock of the options", async () => {
    const { clock, emulator } = setUp();
    await emulator.clock.advance({ days: 3, hours: 1, minutes: 2, seconds: 3 });
    expect(at(emulator.clock.now())).toBe("2026-11-05T10:02:03.000Z");
    await emulator.clock.set("2026-12-01T00:00:00Z");
    expect(at(emulator.clock.now())).toBe("2026-12-01T00:00:00.000Z");
    expect(at(clock.now())).toBe(start);
  });

  it("stops while it is frozen, and can be moved by hand", async () => {
    const { clock, emulator } = setUp();
    emulator.clock.freeze();
    await clock.advance(60_000);
    expect(at(emulator.clock.now())).toBe(start);
    await emulator.clock.advance(1_000);
    expect(at(emulator.clock.now())).toBe("2026-11-02T09:00:01.000Z");
    emulator.clock.resume();
    await clock.advance(1_000);
    expect(at(emulator.clock.now())).toBe("2026-11-02T09:00:02.000Z");
  });

  it("passes faster at a speed", async () => {
    const { clock, emulator } = setUp();
    emulator.clock.resume({ speed: 60 });
    await clock.advance(1_000);
    expect(at(emulator.clock.now())).toBe("2026-11-02T09:01:00.000Z");
  });

  it("runs a timer at its own time, also when a control moves the time", async () => {
    const { clock, emulator } = setUp();
    const times: string[] = [];
    const note = () => times.push(at(emulator.clock.now()));
    emulator.clock.after(2_000, note);
    emulator.clock.after(1_000, () => {
      note();
      emulator.clock.after(500, note);
    });
    await emulator.clock.advance(1_200);
    await clock.advance(5_000);
    expect(times).toEqual(["2026-11-02T09:00:01.000Z", "2026-11-02T09:00:01.500Z", "2026-11-02T09:00:02.000Z"]);
    expect(clock.pending).toBe(0);
  });

  it("refuses to move backwards, and an invalid speed", async () => {
    const { emulator } = setUp();
    await expect(emulator.clock.advance(-1)).rejects.toThrow(RangeError);
    await expect(emulator.clock.set("2026-11-01")).rejects.toThrow("cannot move backwards");
    expect(() => emulator.clock.resume({ speed: 0 })).toThrow(RangeError);
    await emulator.clock.advance(1);
    expect(at(emulator.clock.now())).toBe("2026-11-02T09:00:00.001Z");
  });
});

describe("what depends on the time", () => {
  it("is the state of a render, and the Retry-After of its file is the time that a client waits", async () => {
    const { emulator, demo, get, post, image, clock } = setUp({ renderDuration: 120_000 });
    emulator.clock.resume({ speed: 60 });
    const query = `sceneReference=${demo.scenes.studio}&productReference=${demo.products.slimCase}&perspectiveReference=${demo.perspectives.front}`;
    const compositionReference = (await get(`/lookup-composition?${query}`)).body.composition.reference;
    const render = { compositionReference, imageReference: await image() };
    const { reference } = (await post("/renders", { render })).body.render;
    const pending = await get(`/renders/${reference}/media`);
    expect([pending.status, pending.headers.get("Retry-After")]).toEqual([202, "2"]);
    await clock.advance(2_000);
    expect((await get(`/renders/${reference}`)).body.render.status).toBe("completed");
  });

  it("is not the refill of the rate limits while the clock is frozen", async () => {
    const { emulator, get, clock } = setUp();
    emulator.clock.freeze();
    emulator.drain("default");
    expect((await get("/stores")).status).toBe(429);
    await clock.advance(1_000);
    expect((await get("/stores")).status).toBe(200);
  });

  it("is the refill of the rate limits after a jump", async () => {
    const { emulator, get } = setUp();
    emulator.drain("uploads");
    await emulator.clock.advance({ days: 1 });
    expect((await get("/stores")).headers.get("Date")).toBe("Tue, 03 Nov 2026 09:00:00 GMT");
    expect(emulator.world().organizations[0]?.rateLimits.uploads).toBe(5000);
  });
});

it("a loaded world continues at the time at which it was saved", async () => {
  const { emulator } = setUp();
  await emulator.clock.advance({ days: 10 });
  emulator.clock.freeze();
  const other = createEmulator({ clock: createManualClock("2030-01-01") });
  other.load(emulator.world());
  expect(at(other.clock.now())).toBe("2026-11-12T09:00:00.000Z");
  expect(other.clock.speed).toBe(0);
});
