import { createEmulator, createManualClock, type SavedWorld, startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";

describe("extreme input of a control", () => {
  it.each([1e300, 8.64e15, { days: 1e9 }])("does not move the clock beyond the year 9999: %j", async (span) => {
    const emulator = createEmulator({ clock: createManualClock() });
    const before = emulator.clock.now();
    await expect(emulator.clock.advance(span)).rejects.toThrow(RangeError);
    await expect(emulator.clock.set(8.64e15)).rejects.toThrow(RangeError);
    expect(emulator.clock.now()).toBe(before);
  });

  it.each([1_000_001, 1e9, 1e300])("does not make %d orders", (orders) => {
    const emulator = createEmulator();
    expect(() => emulator.seed({ orders })).toThrow("orders: expected a number of at most 1000000");
    expect(() => createEmulator({ seed: { orders } })).toThrow("at most 1000000");
  });

  it("keeps at most 256 checkpoints, and replaces one of a known name", () => {
    const emulator = createEmulator();
    for (let n = 0; n < 256; n += 1) emulator.checkpoint({ name: String(n) });
    expect(() => emulator.checkpoint({ name: "more" })).toThrow("There are 256 checkpoints: use a name again");
    expect(() => emulator.checkpoint({ name: "7" })).not.toThrow();
  });

  it("stops a fast clock at the end of the year 9999", async () => {
    const clock = createManualClock();
    const emulator = createEmulator({ clock });
    emulator.clock.resume({ speed: 1e300 });
    await clock.advance(1_000);
    expect(new Date(emulator.clock.now()).toISOString()).toBe("9999-12-31T23:59:59.999Z");
  });

  it("keeps the current state when a world cannot be loaded", () => {
    const emulator = createEmulator({ clock: createManualClock(), seed: { orders: 3 } });
    const before = emulator.world();
    const world = structuredClone(before) as { organizations: { rendertokens: { resets: number } }[] } & SavedWorld;
    for (const { rendertokens } of world.organizations) rendertokens.resets = 1e300;
    expect(() => emulator.load({ ...world, clock: { time: 5, speed: 0 } })).toThrow();
    expect(emulator.world()).toEqual(before);
  });

  it("refuses a world whose organization has no key", () => {
    const emulator = createEmulator({ clock: createManualClock() });
    const world = emulator.world();
    const organizations = world.organizations.map((organization) => ({ ...organization, keys: [] }));
    expect(() => emulator.load({ ...world, organizations })).toThrow(/keys/);
    expect(emulator.secretKey).not.toBe("");
  });

  it("refuses to remove an unknown fault, with a 400", async () => {
    await using emulator = await startEmulator();
    const response = await fetch(new URL("/_emulator/faults.remove", emulator.baseUrl), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"id":99}',
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ code: "invalid_input", message: "The emulator has no fault 99" });
  });

  it.each(["//[/x", "//other.example/_emulator/world"])(
    "takes no part of a world's path as a host: %s",
    async (path) => {
      await using emulator = await startEmulator();
      using world = emulator.worlds.create();
      const response = await fetch(`${new URL(emulator.baseUrl).origin}/worlds/${world.name}${path}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: "{}",
      });
      expect(response.status).toBe(401);
    },
  );
});
