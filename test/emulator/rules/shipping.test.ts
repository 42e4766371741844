import { describe, expect, it } from "vitest";
import { address, type Bench, placeOrder, setUp, unknownReference } from "../support.ts";

const to = (changes: Partial<typeof address>) => ({ dropshipAddress: { ...address, ...changes } });
const lines = (productReference: string, quantity: number) => ({ orderlines: [{ productReference, quantity }] });

function quote({ demo, post }: Bench, over: Record<string, unknown>) {
  return post("/quote", {
    quote: {
      storeReference: demo.stores.api,
      shippingKind: "dropship",
      ...to({ email: "" }),
      ...lines(demo.products.slimCase, 1),
      ...over,
    },
  });
}

describe("a quote", () => {
  it.each<[string, (bench: Bench) => Record<string, unknown>, Record<string, number>]>([
    ["the home country", () => ({}), { basic: 325, tracked: 475, express: 995 }],
    ["a value of 208.05", ({ demo }) => lines(demo.products.slimCase, 19), { tracked: 475, express: 995 }],
    ["a weight of 2,016 g", ({ demo }) => lines(demo.products.screenProtector, 112), { tracked: 475, express: 995 }],
    ["a parcel locker abroad", () => to({ countryCode: "DE", streetname: "Packstation 101" }), { tracked: 795 }],
    ["a distant country", () => to({ countryCode: "AU" }), { basic: 795, tracked: 1_495, express: 3_495 }],
  ])("for %s has its prices in EUR cents", async (_case, over, prices) => {
    const bench = setUp();
    const { shippingOptions } = (await quote(bench, over(bench))).body;
    expect(shippingOptions).toEqual(Object.entries(prices).map(([level, price]) => ({ level, price })));
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

  it("do not contain orders of two organizations", () => {
    const stores = [{ name: "Other", legacyCode: "OTHER" }];
    const organizations = [{ name: "Other prints", keys: [{ secretKey: "key-of-other-prints" }], stores }];
    const { emulator } = setUp({ organizations });
    const combined = { shippingKind: "combined" } as const;
    const { orders } = emulator.seed({ orders: [combined, { ...combined, store: "OTHER" }] });
    const ship = () => emulator.ship(orders.map(({ reference }) => reference));
    expect(ship).toThrow("Orders of different organizations cannot ship together");
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
