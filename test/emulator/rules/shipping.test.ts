import { describe, expect, it } from "vitest";
import { address, type Bench, placeOrder, setUp, unknownReference } from "../support.ts";

function quote({ demo, post }: Bench, over: Record<string, unknown> = {}, quantity = 1) {
  return post("/quote", {
    quote: {
      storeReference: demo.stores.api,
      shippingKind: "dropship",
      dropshipAddress: { ...address, email: "" },
      orderlines: [{ productReference: demo.products.slimCase, quantity }],
      ...over,
    },
  });
}

const levels = ({ body }: { body: { shippingOptions: { level: string }[] } }) =>
  body.shippingOptions.map(({ level }) => level);

describe("quotes", () => {
  it("have the levels that an order can ship with, the lowest first, in EUR cents", async () => {
    const bench = setUp();
    expect((await quote(bench)).body).toEqual({
      shippingOptions: [
        { level: "basic", price: 325 },
        { level: "tracked", price: 475 },
        { level: "express", price: 995 },
      ],
    });
    expect(levels(await quote(bench, { dropshipMinimalShippingLevel: "tracked" }))).toEqual(["tracked", "express"]);
  });

  it("have a higher level for weight and value, and a lower one where there is no express", async () => {
    const bench = setUp();
    expect(levels(await quote(bench, {}, 19))).toEqual(["tracked", "express"]); // 20,805 cents
    const heavy = [{ productReference: bench.demo.products.screenProtector, quantity: 112 }]; // 2,016 g
    expect(levels(await quote(bench, { orderlines: heavy }))).toEqual(["tracked", "express"]);
    const over = { dropshipAddress: { ...address, countryCode: "MT" }, dropshipMinimalShippingLevel: "express" };
    expect(levels(await quote(bench, over))).toEqual(["tracked"]);
  });

  it("have only the tracked level for a parcel locker, and higher prices for distant countries", async () => {
    const bench = setUp();
    const locker = { dropshipAddress: { ...address, countryCode: "DE", streetname: "Packstation 101" } };
    expect((await quote(bench, locker)).body.shippingOptions).toEqual([{ level: "tracked", price: 795 }]);
    const far = { dropshipAddress: { ...address, countryCode: "AU" } };
    expect((await quote(bench, far)).body.shippingOptions[0]).toEqual({ level: "basic", price: 795 });
  });
});

describe("shipments", () => {
  it("have different tracking numbers", async () => {
    const bench = setUp();
    const numbers = new Set<string>();
    for (let count = 0; count < 5; count += 1) {
      const shipment = bench.emulator.ship(await placeOrder(bench, { dropshipMinimalShippingLevel: "tracked" }));
      numbers.add((await bench.get(`/shipments/${shipment}`)).body.shipment.trackingNumber);
    }
    expect(numbers.size).toBe(5);
  });

  it("contain a part of an order, then the rest", async () => {
    const bench = setUp();
    const order = await placeOrder(bench);
    const state = async () => {
      const { status, orderlines } = (await bench.get(`/orders/${order}`)).body.order;
      return [status.code, ...orderlines.map((line: { shippedQuantity: number }) => line.shippedQuantity)];
    };
    bench.emulator.startProduction(order);
    expect(await state()).toEqual(["in_production", 0, 0]);
    const first = bench.emulator.ship(order, { lines: [{ index: 1, quantity: 2 }] });
    expect(await state()).toEqual(["partially_shipped", 2, 0]);
    expect(() => bench.emulator.ship(order, { lines: [{ index: 1, quantity: 2 }] })).toThrow(
      "has 1 left to ship; got 2",
    );
    expect(bench.emulator.ship(order)).not.toBe(first);
    expect(await state()).toEqual(["shipped", 3, 1]);
  });

  it("contain several combined orders, with tracking", async () => {
    const bench = setUp();
    const combined = { shippingKind: "combined", dropshipAddress: undefined };
    const orders = [await placeOrder(bench, combined), await placeOrder(bench, combined)];
    const shipment = bench.emulator.ship(orders);
    expect((await bench.get(`/shipments/${shipment}`)).body.shipment).toMatchObject({
      orders: orders.map((reference) => ({ reference })),
      trackingNumber: expect.any(String),
    });
    const alone = await placeOrder(bench);
    expect(() => bench.emulator.ship([alone, ...orders])).toThrow("Only combined orders");
  });

  it("throw an error for an unknown order", () => {
    const bench = setUp();
    expect(() => bench.emulator.ship(unknownReference("Order") as `Order_${string}`)).toThrow("has no order");
    expect(() => bench.emulator.ship([])).toThrow("at least one");
  });
});

it("a combined order that is named twice is refused and not shipped twice", async () => {
  const { emulator, get, demo } = setUp();
  const [order] = emulator.seed({ orders: [{ shippingKind: "combined", store: demo.stores.api }] }).orders;
  if (order === undefined) throw new Error("no order");
  expect(() => emulator.ship([order.reference, order.reference])).toThrow("An order is named more than once");
  expect((await get(`/orders/${order.reference}`)).body.order.orderlines[0].shippedQuantity).toBe(0);
});
