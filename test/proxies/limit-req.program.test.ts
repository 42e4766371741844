import { expect, it } from "vitest";
import { behindEachGateway, failuresOf, setUp } from "./setup.ts";

// How few requests are refused depends on the machine here: `test/http/pacing/gateway-limit.test.ts` counts them on a simulated clock.
behindEachGateway(
  (kind) => {
    it.each([
      ["a burst of 20", 20],
      ["no burst", 0],
    ])("each of 60 concurrent orders is created once when limit_req has %s", async (_, burst) => {
      await using setup = await setUp(kind, { perSecond: 30, burst });
      let refused = 0;
      const onResponse = ({ status }: { readonly status: number }) => {
        if (status === 503) refused += 1;
      };
      const partner = setup.partner({ hooks: { onResponse } });
      expect(failuresOf(await setup.place(60, 60, partner))).toEqual([]);
      expect((await setup.made()).orders).toBe(60);
      expect(refused).toBeGreaterThan(0);
    });
  },
  { kinds: ["nginx"] },
);
