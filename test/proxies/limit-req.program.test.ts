import { expect, it } from "vitest";
import { behindEachGateway, failuresOf, setUp } from "./setup.ts";

// How few requests are refused depends on the machine here: `test/http/pacing/gateway-limit.test.ts` counts them on a simulated clock.
behindEachGateway(
  (kind) => {
    it.each([
      ["a burst of 10", 10],
      ["no burst", 0],
    ])("each of 30 concurrent orders is created once when limit_req has %s", async (_, burst) => {
      await using setup = await setUp(kind, { perSecond: 15, burst });
      let refused = 0;
      const onResponse = ({ status }: { readonly status: number }) => {
        if (status === 503) refused += 1;
      };
      const partner = setup.partner({ hooks: { onResponse } });
      expect(failuresOf(await setup.place(30, 30, partner))).toEqual([]);
      expect((await setup.made()).orders).toBe(30);
      expect(refused).toBeGreaterThan(0);
    });
  },
  { kinds: ["nginx"] },
);
