import { type OrderReference, PodPartner } from "pod-partner";
import { type RunningEmulator, startEmulator } from "pod-partner/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { watchTimers } from "../support/open-handles.ts";

/** A thousand orders: 20 full pages, and the empty one that ends the chain. */
const count = 1000;

describe("iterating a thousand orders over loopback HTTP", () => {
  let emulator: RunningEmulator;
  let partner: PodPartner;
  const listed = () => emulator.requests.filter(({ path }) => path.startsWith("/orders")).length;

  beforeAll(async () => {
    emulator = await startEmulator({ seed: { orders: count } });
    partner = new PodPartner({ baseUrl: emulator.baseUrl, secretKey: emulator.secretKey });
  });
  afterAll(() => emulator.close());

  it("orders.list yields each order once, the newest first", async () => {
    const references: OrderReference[] = [];
    const numbers: number[] = [];
    for await (const order of partner.orders.list()) {
      references.push(order.reference);
      numbers.push(Number(/\d+$/.exec(String(Reflect.get(order, "legacyOrderCode")))?.[0]));
    }
    expect(references).toHaveLength(count);
    expect(new Set(references).size).toBe(count);
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
    expect(listed()).toBe(count / 50 + 1);
  });

  it("leaving the loop early requests only the prefetched page, and leaves no timer", async () => {
    let asked = 0;
    const counting = new PodPartner({
      baseUrl: emulator.baseUrl,
      secretKey: emulator.secretKey,
      fetch: (request, init) => {
        asked += 1;
        return fetch(request, init);
      },
    });
    using timers = watchTimers();
    for await (const order of counting.orders.list()) {
      expect(order.reference).toMatch(/^Order_/);
      break;
    }
    expect(timers.open).toBe(0);
    await counting.auth.validate();
    expect(asked).toBeLessThanOrEqual(3);
    expect(counting.rateLimits.policies.default?.waiting).toBe(0);
  });
});
