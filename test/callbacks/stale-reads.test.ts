import fc from "fast-check";
import { PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";
import { createEmulator, createManualClock } from "pod-partner/testing";
import { expect, it } from "vitest";

const units = 6;
const orders = 3;

/** Waits for a number of turns of the event loop: responses and handlers then overlap in many ways. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Repeats the numbers without an end. */
const cycle = (numbers: readonly number[]) => {
  let at = 0;
  return () => numbers[at++ % numbers.length] ?? 0;
};

/**
 * Ships every unit of some orders on its own, so that callbacks arrive while others are in work. Returns the shipped quantities of each
 * order in the order in which the handler had finished with them.
 */
async function shipAll(delays: readonly number[], failures: readonly boolean[], concurrency: number) {
  const delay = cycle(delays);
  const fails = cycle(failures.map(Number));
  const seen = new Map<string, number[]>();
  const emulator = createEmulator({
    clock: createManualClock(),
    callbackUrl: "http://shop.test/callback",
    seed: { orders: Array.from({ length: orders }, () => ({ orderlines: [{ quantity: units }] })) },
    callbacks: { duplicates: 1, fetch: (request) => receiver.fetch(request) },
  });
  const partner = new PodPartner({
    ...emulator.clientOptions,
    fetch: async (input, init) => {
      await turns(delay());
      const response = await emulator.fetch(input as Request, init);
      await turns(delay());
      return response;
    },
  });
  const receiver = createOrderUpdatedReceiver({
    partner,
    token: false,
    concurrency,
    onError: () => undefined,
    onOrderUpdated: async ({ order }) => {
      await turns(delay());
      if (fails() === 1) throw new Error("the database is down");
      seen.set(order.reference, [...(seen.get(order.reference) ?? []), order.orderlines[0]?.shippedQuantity ?? 0]);
    },
  });
  const references = emulator.world().organizations[0]?.orders.map(({ reference }) => reference) ?? [];
  for (let unit = 0; unit < units; unit += 1) {
    for (const reference of references) {
      emulator.ship(reference, { lines: [{ index: 1, quantity: 1 }] });
      await turns(delay());
    }
  }
  const isDone = () => emulator.callbacks.list().every(({ status }) => status === "delivered");
  for (let round = 0; round < 200 && !isDone(); round += 1) await emulator.clock.advance({ minutes: 5 });
  expect(isDone()).toBe(true);
  await receiver.close();
  return seen;
}

it("the handler sees no order go back, and the final state last, however callbacks, responses and failures overlap", async () => {
  const delays = fc.array(fc.nat(6), { minLength: 1, maxLength: 12 });
  const failures = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }).filter((all) => all.includes(false));
  await fc.assert(
    fc.asyncProperty(delays, failures, fc.integer({ min: 1, max: 4 }), async (waits, failing, concurrency) => {
      const seen = await shipAll(waits, failing, concurrency);
      expect(seen.size).toBe(orders);
      for (const shipped of seen.values()) {
        expect(shipped).toEqual(shipped.toSorted((one, other) => one - other));
        expect(shipped.at(-1)).toBe(units);
      }
    }),
    { numRuns: 25, seed: 6 },
  );
});
