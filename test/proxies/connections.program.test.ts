import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { orderOf } from "../http/matrix/subjects.ts";
import { failuresOf, overEachTransport } from "./setup.ts";

overEachTransport((setUp) => {
  it("each order is one request when the gateway closes each connection after its response", async () => {
    await using setup = await setUp({ closes: true });
    expect(failuresOf(await setup.place(30, 6))).toEqual([]);
    expect(setup.emulator.requests).toHaveLength(30);
    expect((await setup.made()).orders).toBe(30);
  });

  it("each order is created once when the gateway closes idle connections as they are reused", async () => {
    const idleTimeout = 30;
    await using setup = await setUp({ idleTimeout });
    const partner = setup.partner();
    const lane = async (name: number) => {
      for (let number = 0; number < 4; number++) {
        await partner.orders.create(orderOf(setup.emulator, `shop-${name}-${number}`));
        // Real time: this depends on the gateway's own timer.
        await sleep(idleTimeout - 4 + name);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, name) => lane(name)));
    expect((await setup.made()).orders).toBe(32);
  });
});

overEachTransport(
  (setUp) => {
    it("each order is created once when a connection carries three requests", async () => {
      await using setup = await setUp({ requestsPerConnection: 3 });
      expect(failuresOf(await setup.place(30, 6))).toEqual([]);
      expect((await setup.made()).orders).toBe(30);
    });
  },
  { kinds: ["nginx"] },
);
