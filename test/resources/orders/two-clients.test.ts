import { describe, expect, it } from "vitest";
import { placeTogether } from "../../support/doubles.ts";

// `SCENARIOS=250` makes 500 of them in two minutes, and `FIRST` chooses others.
const { SCENARIOS = "30", FIRST = "1" } = process.env;

describe.each([
  { name: "two clients at the same time", late: false },
  { name: "one client after the other, with a service that takes up to 25 s", late: true },
])("$name", ({ late }) => {
  it("place no order twice, whatever is refused, lost, aborted or killed", { timeout: 3_600_000 }, async () => {
    const doubles: string[] = [];
    let orders = 0;
    const seeds = Array.from({ length: Number(SCENARIOS) }, (_, index) => index + Number(FIRST));
    // Each has its own clock. One of them waits most of the time.
    const run = async () => {
      for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
        const shown = await placeTogether(seed, late);
        orders += shown.orders;
        doubles.push(...shown.doubles.map((double) => `seed ${seed}: ${double}`));
      }
    };
    await Promise.all(Array.from({ length: 50 }, run));
    expect(doubles).toEqual([]);
    expect(orders).toBeGreaterThanOrEqual(Number(SCENARIOS));
  });
});
