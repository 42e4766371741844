import { setTimeout as sleep } from "node:timers/promises";
import { OutcomeUnknownError } from "pod-partner";
import { expect, it } from "vitest";
import { orderOf } from "../http/matrix/subjects.ts";
import { rejection } from "../support/exchange.ts";
import { expectNoKey, failuresOf, type GatewaySetup, overEachTransport } from "./setup.ts";

/** Cuts off the service after it has received the order, which takes it a moment to create. */
async function cutAfterOrder({ emulator, relay }: GatewaySetup): Promise<void> {
  while (!emulator.requests.some(({ method }) => method === "POST")) await sleep(1);
  await relay.cut();
}

const slow = { fault: "slow", ms: 150, when: "before", on: "orders.create" } as const;

overEachTransport((setUp) => {
  it("an order in progress when the service is killed is found when the service is back", async () => {
    await using setup = await setUp();
    setup.emulator.faults.add({ ...slow, nth: 1 });
    const placing = setup.partner().orders.create(orderOf(setup.emulator, "shop-1"));
    await cutAfterOrder(setup);
    await sleep(300);
    await setup.relay.mend();
    expect((await placing).recovered).toBe(true);
    expect((await setup.made()).orders).toBe(1);
  });

  it("an order has an unknown outcome and is sent once when the service does not come back", async () => {
    await using setup = await setUp();
    setup.emulator.faults.add(slow);
    const partner = setup.partner({ retry: { retries: 1, baseDelay: 0 } });
    const placing = rejection(partner.orders.create(orderOf(setup.emulator, "shop-1")));
    await cutAfterOrder(setup);
    const error = await placing;
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ identifiers: { customIdentifier: "shop-1" } });
    expectNoKey(error);
    expect(setup.emulator.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  it("each of many orders is created once while the service is killed twice", async () => {
    await using setup = await setUp();
    setup.emulator.faults.add({ ...slow, ms: 30 });
    const placing = setup.place(60, 3);
    for (let kill = 0; kill < 2; kill++) {
      await sleep(200);
      await setup.relay.cut();
      await sleep(100);
      await setup.relay.mend();
    }
    expect(failuresOf(await placing)).toEqual([]);
    expect((await setup.made()).orders).toBe(60);
  });
});
