import { describe, expect, it } from "vitest";
import { findFaults } from "./find-faults.ts";
import { toLiteral } from "./literal.ts";
import { runCase } from "./run-case.ts";

/** The seed of CI; `npm run fuzz` uses a random one. */
const seed = 20_261_102;

describe("a client with a hostile `fetch`", () => {
  it("settles each call in time with a typed error or a result, creates nothing twice, shows no key, and leaves nothing open", async () => {
    // `npm run fuzz` tries as many as you give it time for.
    const { tried, failures } = await findFaults({ seed, cases: 300 });
    expect(failures.map(({ fault, plan }) => `${fault}: ${toLiteral(plan)}`)).toEqual([]);
    expect(tried).toBe(300);
  });
});

describe("the oracle", () => {
  it("finds no fault with a service that works correctly", async () => {
    expect(
      await runCase({ calls: [{ operation: "orders.create" }, { operation: "renders.wait" }], moves: [] }),
    ).toEqual([]);
  });
});
