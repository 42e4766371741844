import { expect, it } from "vitest";
import { overEachTransport } from "./setup.ts";

overEachTransport((setUp) => {
  it("a list is read completely while the gateway reloads", async () => {
    await using setup = await setUp({}, { seed: { orders: 60 }, pageSize: 1 });
    setup.emulator.faults.add({ fault: "slow", ms: 20, when: "before" });
    using reloading = setup.gateway.reloadEvery(400, 4);
    const orders = await setup.partner().orders.list().toArray();
    expect(new Set(orders.map(({ reference }) => reference)).size).toBe(60);
    expect(reloading.count).toBeGreaterThan(1);
  });
});
