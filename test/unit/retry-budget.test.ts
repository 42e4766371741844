import { describe, expect, it } from "vitest";
import { RetryBudget } from "../../src/http/retry/retry-budget.ts";

/** Spends until nothing is left, and tells how much that was. */
function spendAll(budget: RetryBudget): number {
  let spent = 0;
  while (budget.spend()) spent += 1;
  return spent;
}

describe("what a client may spend on sending again", () => {
  it("comes back one by one: a success is worth one repetition, not all of them", () => {
    const budget = new RetryBudget();
    spendAll(budget);
    budget.earn();
    expect(spendAll(budget)).toBe(1);
    for (let success = 0; success < 7; success++) budget.earn();
    expect(spendAll(budget)).toBe(7);
  });

  it("is never more than a hundred, however many calls have succeeded", () => {
    const budget = new RetryBudget();
    for (let success = 0; success < 1_000; success++) budget.earn();
    expect(spendAll(budget)).toBe(100);
  });
});
