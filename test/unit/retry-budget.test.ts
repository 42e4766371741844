import { describe, expect, it } from "vitest";
import { RetryBudget } from "../../src/http/call.ts";

/** Spends retries until the budget is empty, and returns their number. */
function spendAll(budget: RetryBudget): number {
  let spent = 0;
  while (budget.spend()) spent += 1;
  return spent;
}

describe("a client's retry budget", () => {
  it("is refilled one by one: each success adds one retry", () => {
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
