import { expect, it } from "vitest";
import { behindEachGateway, failuresOf, setUp } from "./setup.ts";

behindEachGateway(
  (kind) => {
    it.each([
      ["a burst of 20", 20],
      ["no burst", 0],
    ])("each of 150 concurrent orders is created once, with few refusals, when limit_req has %s", async (_, burst) => {
      await using setup = await setUp(kind, { perSecond: 30, burst });
      let refused = 0;
      const onResponse = ({ status }: { readonly status: number }) => {
        if (status === 503) refused += 1;
      };
      const partner = setup.partner({ hooks: { onResponse } });
      expect(failuresOf(await setup.place(150, 150, partner))).toEqual([]);
      expect((await setup.made()).orders).toBe(150);
      expect(refused).toBeGreaterThan(0);
      expect(refused).toBeLessThan(100);
    });
  },
  { kinds: ["nginx"], concurrent: false },
);
