import { expect, it } from "vitest";
import { makeShared } from "../../support/shared-storage.ts";

// `SCENARIOS=2000` makes more of them, and `FIRST` chooses others.
const { SCENARIOS = "30", FIRST = "1" } = process.env;

/** What the clients of a schedule make, by its seed: every second one is about orders. */
const mixes = [
  ["order 1", "order 2", "order 3"],
  ["claim 1", "claim 2", "claim 3"],
  ["order 1", "order 2", "order 3"],
  ["retraction 1", "retraction 2", "retraction 3"],
  ["order 1", "order 2", "order 3"],
  ["order 1", "claim 2", "retraction 3"],
] as const;

it("clients with one storage make each order, claim and retraction once, whatever is killed, suspended, lost or down", {
  timeout: 3_600_000,
}, async () => {
  const faults: string[] = [];
  const seeds = Array.from({ length: Number(SCENARIOS) }, (_, index) => index + Number(FIRST));
  // Each has its own clock. One of them waits most of the time.
  const run = async () => {
    for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
      const { doubles, losses, made } = await makeShared(seed, mixes[seed % mixes.length] ?? []);
      if (doubles.length + losses.length > 0 || made !== 3)
        faults.push(`seed ${seed}: twice ${doubles}, lost ${losses}, made ${made}`);
    }
  };
  await Promise.all(Array.from({ length: 20 }, run));
  expect(faults).toEqual([]);
});
