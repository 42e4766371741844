import { describe, expect, it } from "vitest";
import { dropship, placeOrder, problem, setUp } from "../support.ts";

describe("a repeated customIdentifier", () => {
  const lookup = "/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=";

  it("creates another order with that option, and the look-up finds the first", async () => {
    const bench = setUp({ repeatedIdentifier: "create" });
    const first = await placeOrder(bench, { customIdentifier: "shop-1" });
    expect(await placeOrder(bench, { customIdentifier: "shop-1" })).not.toBe(first);
    expect((await bench.get(`${lookup}shop-1`)).body).toEqual({ orderReference: first });
  });

  it("is refused with that option", async () => {
    const bench = setUp({ repeatedIdentifier: "refuse" });
    await placeOrder(bench, { customIdentifier: "shop-1" });
    const again = await bench.post("/orders", await dropship(bench, { customIdentifier: "shop-1" }));
    expect(problem(again)).toEqual({ status: 409, code: "custom_identifier_taken" });
  });
});

describe("canceling", () => {
  const cancel = (index: number, canceledQuantity: number) => ({ orderlines: [{ index, canceledQuantity }] });

  it("succeeds in production while it changes nothing, and changes nothing otherwise", async () => {
    const bench = setUp();
    const order = await placeOrder(bench);
    const path = `/orders/${order}/cancel`;
    await bench.post(path, cancel(1, 2));
    bench.emulator.startProduction(order);
    expect((await bench.post(path, cancel(1, 2))).status).toBe(204);
    const mixed = { orderlines: [...cancel(1, 2).orderlines, ...cancel(2, 1).orderlines] };
    expect(problem(await bench.post(path, mixed))).toEqual({ status: 409, code: "already_in_production" });
    const { orderlines } = (await bench.get(`/orders/${order}`)).body.order;
    expect(orderlines.map((line: { canceledQuantity: number }) => line.canceledQuantity)).toEqual([2, 0]);
  });
});
