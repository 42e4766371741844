import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { RetryBudget } from "../../src/http/retry-budget.ts";

/** Spends retries until the budget is empty, and returns their number. */
function spendAll(budget: RetryBudget): number {
  let spent = 0;
  while (budget.spend()) spent += 1;
  return spent;
}

describe("a client's retry budget", () => {
  it("is refilled by successes: each one returns the retry that it used, and adds one", () => {
    const budget = new RetryBudget(createManualClock());
    spendAll(budget);
    budget.earn();
    expect(spendAll(budget)).toBe(2);
    for (let success = 0; success < 7; success++) budget.earn();
    expect(spendAll(budget)).toBe(14);
  });

  it("is refilled by time: five retries a second", async () => {
    const clock = createManualClock();
    const budget = new RetryBudget(clock);
    spendAll(budget);
    await clock.advance(100);
    expect(spendAll(budget)).toBe(0);
    await clock.advance(100);
    expect(spendAll(budget)).toBe(1);
    await clock.advance(3_000);
    expect(spendAll(budget)).toBe(15);
  });

  it("is never more than a hundred, however many calls have succeeded and however long ago the last retry was", async () => {
    const clock = createManualClock();
    const budget = new RetryBudget(clock);
    for (let success = 0; success < 1_000; success++) budget.earn();
    await clock.advance(3_600_000);
    expect(spendAll(budget)).toBe(100);
  });
});
