import { expect, it } from "vitest";
import { behindEachGateway, failuresOf, setUp } from "./setup.ts";

behindEachGateway((kind) => {
  it("each order is created once while the gateway reloads every 0.4 s", async () => {
    await using stage = await setUp(kind);
    stage.emulator.faults.add({ fault: "slow", ms: 40, when: "before" });
    using reloading = stage.gateway.reloadEvery(400, 4);
    const outcomes = await stage.place(200, 8);
    expect(failuresOf(outcomes)).toEqual([]);
    expect((await stage.made()).orders).toBe(200);
    expect(reloading.count).toBe(4);
  });

  it("a list is read completely while the gateway reloads", async () => {
    await using stage = await setUp(kind, {}, { seed: { orders: 60 }, pageSize: 1 });
    stage.emulator.faults.add({ fault: "slow", ms: 20, when: "before" });
    using reloading = stage.gateway.reloadEvery(400, 4);
    const orders = await stage.partner().orders.list().toArray();
    expect(new Set(orders.map(({ reference }) => reference)).size).toBe(60);
    expect(reloading.count).toBeGreaterThan(1);
  });
});
