import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { orderOf } from "../flows/matrix/subjects.ts";
import { behindEach, failuresOf, setUp } from "./stage.ts";

behindEach((kind) => {
  it("where each connection is closed after its response, each order is one request", async () => {
    await using stage = await setUp(kind, { closes: true });
    expect(failuresOf(await stage.place(60, 6))).toEqual([]);
    expect(stage.emulator.requests).toHaveLength(60);
    expect((await stage.made()).orders).toBe(60);
  });

  it("where idle connections are closed at the moment that they are used again, each order is made once", async () => {
    const idleTimeout = 30;
    await using stage = await setUp(kind, { idleTimeout });
    const partner = stage.partner();
    const lane = async (name: number) => {
      for (let number = 0; number < 4; number++) {
        await partner.orders.create(orderOf(stage.emulator, `shop-${name}-${number}`));
        // Real time: it is the gateway's own timer that is met.
        await sleep(idleTimeout - 4 + name);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, name) => lane(name)));
    expect((await stage.made()).orders).toBe(32);
  });
});

behindEach(
  (kind) => {
    it("where a connection carries three requests, each order is made once", async () => {
      await using stage = await setUp(kind, { requestsPerConnection: 3 });
      expect(failuresOf(await stage.place(120, 6))).toEqual([]);
      expect((await stage.made()).orders).toBe(120);
    });
  },
  { kinds: ["nginx"] },
);
