import { expect, it } from "vitest";
import { placeShared } from "../../support/shared-storage.ts";

// `SCENARIOS=2000` makes more of them, and `FIRST` chooses others.
const { SCENARIOS = "30", FIRST = "1" } = process.env;

it("clients with one storage place each order once, whatever is killed, suspended, lost or down", {
  timeout: 3_600_000,
}, async () => {
  const faults: string[] = [];
  const seeds = Array.from({ length: Number(SCENARIOS) }, (_, index) => index + Number(FIRST));
  // Each has its own clock. One of them waits most of the time.
  const run = async () => {
    for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
      const { doubles, losses, orders } = await placeShared(seed);
      if (doubles.length + losses.length > 0 || orders !== 3)
        faults.push(`seed ${seed}: twice ${doubles}, lost ${losses}, made ${orders}`);
    }
  };
  await Promise.all(Array.from({ length: 20 }, run));
  expect(faults).toEqual([]);
});
