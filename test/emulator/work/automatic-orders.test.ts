import { createEmulator, createManualClock, type EmulatorOptions } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import type { OrderControls } from "../../../src/emulator/controls/orders.ts";
import { type Bench, placeOrder, setUp } from "../support.ts";

type Order = Parameters<OrderControls["release"]>[0];

/** The status of an order, and what is shipped of each line. */
async function stateOf(bench: Bench, order: string): Promise<readonly unknown[]> {
  const { status, orderlines } = (await bench.get(`/orders/${order}`)).body.order;
  return [status.code, ...orderlines.map((line: { shippedQuantity: number }) => line.shippedQuantity)];
}

/** An emulator with automation, whose callbacks note the time at which each order ships. */
function automated(automation: EmulatorOptions["automation"]) {
  const shipped: (readonly [time: string, order: string])[] = [];
  const bench: Bench = setUp({
    ...(automation && { automation }),
    callbackUrl: "http://shop.test/",
    callbacks: {
      fetch: ({ url }) => {
        const order = new URL(url).searchParams.get("order_reference_v2") ?? "";
        shipped.push([new Date(bench.emulator.clock.now()).toISOString().slice(5, 16), order]);
        return new Response();
      },
    },
  });
  return { ...bench, shipped };
}

describe("orders with automation", () => {
  it("go into production and ship at their own times, callbacks included, before `advance` returns", async () => {
    const bench = automated({ production: { hours: 4 }, shipping: { days: 1 } });
    const { clock } = bench.emulator;
    const first = await placeOrder(bench);
    await clock.advance({ hours: 3 });
    const second = await placeOrder(bench);
    expect(await stateOf(bench, first)).toEqual(["received", 0, 0]);
    await clock.advance({ hours: 1 });
    expect(await stateOf(bench, first)).toEqual(["in_production", 0, 0]);
    await clock.advance({ days: 30 });
    expect(await stateOf(bench, first)).toEqual(["shipped", 3, 1]);
    expect(bench.shipped).toEqual([
      ["11-03T13:00", first],
      ["11-03T16:00", second],
    ]);
  });

  it("ship from their creation on without production", async () => {
    const bench = automated({ shipping: 60_000 });
    const order = await placeOrder(bench);
    await bench.emulator.clock.advance(59_999);
    expect(bench.shipped).toEqual([]);
    await bench.emulator.clock.advance(1);
    expect(bench.shipped).toEqual([["11-02T09:01", order]]);
  });

  it("ship in parts, from the first line on", async () => {
    const bench = automated({ production: 0, shipping: { hours: 1 }, parts: 3 });
    const order = await placeOrder(bench);
    const states: unknown[] = [];
    for (const _hour of [1, 2, 3]) {
      await bench.emulator.clock.advance({ hours: 1 });
      states.push(await stateOf(bench, order));
    }
    expect(states).toEqual([
      ["partially_shipped", 2, 0],
      ["partially_shipped", 3, 0],
      ["shipped", 3, 1],
    ]);
    expect(bench.shipped).toHaveLength(3);
  });

  it("wait on hold until their release, and then take the step that was due", async () => {
    const bench = automated({ production: { hours: 1 }, shipping: { hours: 1 } });
    const { emulator } = bench;
    const order = await placeOrder(bench);
    emulator.hold(order, "The print file is broken");
    await emulator.clock.advance({ days: 2 });
    expect(await stateOf(bench, order)).toEqual(["received", 0, 0]);
    emulator.release(order);
    expect(await stateOf(bench, order)).toEqual(["in_production", 0, 0]);
    await emulator.clock.advance({ hours: 1 });
    expect(bench.shipped).toEqual([["11-04T10:00", order]]);
  });

  it("ship once when production is also started by hand after the hold", async () => {
    const bench = automated({ production: { hours: 1 }, shipping: { hours: 1 }, parts: 2 });
    const { emulator } = bench;
    const order = await placeOrder(bench);
    emulator.hold(order, "A question about the print");
    await emulator.clock.advance({ hours: 2 });
    emulator.release(order);
    emulator.startProduction(order);
    await emulator.clock.advance({ hours: 1 });
    expect(bench.shipped).toEqual([["11-02T12:00", order]]);
  });

  it("keep the time of a step that is due after their release", async () => {
    const bench = automated({ shipping: { hours: 2 } });
    const { emulator } = bench;
    const order = await placeOrder(bench);
    emulator.hold(order, "A question about the address");
    await emulator.clock.advance({ hours: 1 });
    emulator.release(order);
    await emulator.clock.advance({ hours: 1 });
    expect(bench.shipped).toEqual([["11-02T11:00", order]]);
  });

  it("ship after a start of production by hand, once, and not what is canceled or shipped by hand", async () => {
    const bench = automated({ production: { days: 1 }, shipping: { hours: 1 } });
    const { emulator } = bench;
    const [started, canceled, partly] = [await placeOrder(bench), await placeOrder(bench), await placeOrder(bench)];
    emulator.startProduction(started);
    emulator.ship(partly, { lines: [{ index: 1, quantity: 3 }] });
    const orderlines = [1, 2].map((index) => ({ index, canceledQuantity: index === 1 ? 3 : 1 }));
    expect((await bench.post(`/orders/${canceled}/cancel`, { orderlines })).status).toBe(204);
    await emulator.clock.advance({ days: 5 });
    expect(bench.shipped).toEqual([
      ["11-02T09:00", partly],
      ["11-02T10:00", started],
      ["11-03T10:00", partly],
    ]);
    expect(await stateOf(bench, canceled)).toEqual(["canceled", 0, 0]);
  });

  it("move by themselves at a speed", async () => {
    const bench = automated({ shipping: { hours: 1 } });
    const order = await placeOrder(bench);
    bench.emulator.clock.resume({ speed: 3600 });
    await bench.clock.advance(1_000);
    await bench.emulator.callbacks.idle();
    expect(bench.shipped).toEqual([["11-02T10:00", order]]);
  });
});

describe("the automation", () => {
  it("is off by default, and is switched on for open orders and off at run time", async () => {
    const bench = automated(undefined);
    const { emulator } = bench;
    const orders = [await placeOrder(bench), await placeOrder(bench)] as [Order, Order];
    await emulator.clock.advance({ days: 9 });
    expect(bench.shipped).toEqual([]);
    emulator.ship(orders[0]);
    emulator.automate({ shipping: { days: 1 } });
    await emulator.clock.advance({ days: 1 });
    expect(bench.shipped.map(([, order]) => order)).toEqual(orders);
    const later = await placeOrder(bench);
    emulator.automate();
    await emulator.clock.advance({ days: 9 });
    expect(await stateOf(bench, later)).toEqual(["received", 0, 0]);
  });

  it("is refused with an invalid span or number of parts", () => {
    expect(() => createEmulator({ automation: { shipping: -1 } })).toThrow("automation.shipping");
    expect(() => createEmulator().automate({ parts: 0 })).toThrow("parts");
  });

  it("continues in the emulator that loads the world, holds included", async () => {
    const bench = automated({ production: { hours: 1 }, shipping: { hours: 2 }, parts: 2 });
    const { emulator } = bench;
    const [held, moving] = [await placeOrder(bench), await placeOrder(bench)];
    emulator.hold(held, "A question");
    await emulator.clock.advance({ hours: 3 });
    const saved = JSON.parse(JSON.stringify(emulator.world()));
    const other = createEmulator({
      clock: createManualClock("2030-01-01"),
      callbacks: { fetch: () => new Response() },
    });
    other.load(saved);
    expect(other.world()).toEqual(saved);
    for (const each of [emulator, other]) {
      each.release(held);
      await each.clock.advance({ days: 1 });
    }
    const shipments = ({ organizations }: typeof saved) =>
      organizations[0].shipments.map(({ shipped, parcels }: { shipped: number; parcels: unknown }) => [
        shipped,
        parcels,
      ]);
    expect(shipments(other.world())).toEqual(shipments(emulator.world()));
    expect(shipments(other.world())).toHaveLength(4);
    expect(await stateOf(bench, moving)).toEqual(["shipped", 3, 1]);
  });
});
