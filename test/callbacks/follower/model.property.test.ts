import * as fc from "fast-check";
import type { OrderReference } from "pod-partner";
import { describe, expect, it } from "vitest";
import { useInstantDigest } from "./instant-digest.ts";
import { type HandedOver, Model, type Step, step } from "./model.ts";
import { first, second } from "./support.ts";

const runs = Number(process.env.FOLLOWER_RUNS ?? 100);
const delays = fc.array(fc.constantFrom(0, 1, 20, 300, 6_000), { minLength: 3, maxLength: 12 });
const steps = (of: fc.Arbitrary<Step>) => fc.array(of, { minLength: 1, maxLength: 40 });
const orders = [first, second];

const ofOrder = (model: Model, reference: OrderReference) => model.handed.filter((one) => one.reference === reference);

const totalsOf = ({ order }: HandedOver): number[] =>
  order.orderlines.flatMap(({ shippedQuantity, canceledQuantity }) => [shippedQuantity, canceledQuantity]);

/** The units from 0 to the total of a line that finished handlers received, one after the other without a gap. */
function handedUnits(handed: readonly HandedOver[], kind: "shipped" | "canceled", index: number): number {
  let units = 0;
  for (const change of handed.filter(({ finished }) => finished).flatMap(({ changes }) => changes)) {
    if (change.kind !== kind || change.index !== index) continue;
    expect(change.from).toBeLessThanOrEqual(units);
    units = Math.max(units, change.to);
  }
  return units;
}

/** What a partner can believe about the hold at the end. A handler that has not finished may have had its effect, or not. */
function holdsOf(handed: readonly HandedOver[]): (string | undefined)[] {
  let possible = new Set<string | undefined>([undefined]);
  for (const { changes, finished } of handed) {
    for (const change of changes) {
      if (change.kind !== "held" && change.kind !== "released") continue;
      const hold = change.kind === "held" ? change.reason : undefined;
      possible = new Set(finished ? [hold] : [...possible, hold]);
    }
  }
  return [...possible];
}

async function play(given: readonly Step[], pauses: readonly number[]): Promise<Model> {
  const model = new Model(pauses);
  await model.follow();
  for (const one of given) await model.run(one);
  await model.end();
  return model;
}

function expectEverythingHandedOver(model: Model): void {
  for (const reference of orders) {
    const handed = ofOrder(model, reference);
    const newest = model.newest(reference);
    for (const { index, shippedQuantity, canceledQuantity, quantity } of newest.orderlines) {
      expect(handedUnits(handed, "shipped", index)).toBe(shippedQuantity);
      expect(handedUnits(handed, "canceled", index)).toBe(canceledQuantity);
      expect(quantity).toBe(3);
    }
    const last = handed.filter(({ finished }) => finished).at(-1);
    expect(last?.order).toEqual(newest);
    expect(holdsOf(handed)).toEqual([newest.onHold?.reason]);
    const kinds = handed.filter(({ finished }) => finished).flatMap(({ changes }) => changes.map(({ kind }) => kind));
    const open = newest.orderlines.some((line) => line.shippedQuantity + line.canceledQuantity < line.quantity);
    expect(kinds.includes("completed")).toBe(!open);
  }
}

describe("a follower, with overlapping callbacks and sweeps, failing handlers and crashes of two processes", () => {
  it("hands over every change, in forward order, and the last state", async () => {
    useInstantDigest();
    const consistent = step.filter((one) => one.do !== "staleRead");
    await fc.assert(
      fc.asyncProperty(steps(consistent), delays, async (given, pauses) => {
        const model = await play(given, pauses);
        expectEverythingHandedOver(model);
        for (const reference of orders) {
          const versions = ofOrder(model, reference).map(({ order }) => order.version);
          expect(versions).toEqual([...versions].sort((a, b) => a - b));
        }
      }),
      { numRuns: runs },
    );
  });

  it("hands over quantities that never shrink, and the last state, also when the service returns outdated orders", async () => {
    useInstantDigest();
    await fc.assert(
      fc.asyncProperty(steps(step), delays, async (given, pauses) => {
        const model = await play(given, pauses);
        expectEverythingHandedOver(model);
        for (const reference of orders) {
          const totals = ofOrder(model, reference).map(totalsOf);
          for (const [at, now] of totals.entries()) {
            const before = totals[at - 1] ?? now;
            expect(now.every((total, line) => total >= (before[line] ?? 0))).toBe(true);
          }
        }
      }),
      { numRuns: runs },
    );
  });
});
