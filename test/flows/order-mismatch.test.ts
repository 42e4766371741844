import { OrderMismatchError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { orderOf } from "./matrix/subjects.ts";
import { setUp } from "./setup.ts";

/** An order with the same identifier as `orderOf`, and another quantity on its line. */
const withQuantity = (order: ReturnType<typeof orderOf>, quantity: number) => ({
  ...order,
  orderlines: order.orderlines.map((line) => ({ ...line, quantity })),
});

describe("orders.ensure with a used identifier", () => {
  it("refuses an order with other lines, and places nothing", async () => {
    const { emulator, partner, settle, orders, posts } = setUp();
    const order = orderOf(emulator, "A");
    const { reference } = await settle(partner.orders.ensure(order));
    const error = await settle(rejection(partner.orders.ensure(withQuantity(order, 99))));
    if (!OrderMismatchError.isInstance(error)) throw error;
    expect(error.existing.reference).toBe(reference);
    expect(error.existing.orderlines[0]?.quantity).toBe(2);
    expect(error.requested[0]?.quantity).toBe(99);
    expect(error.message).toContain("customIdentifier A");
    expect([await orders(), posts()]).toEqual([1, 1]);
  });

  it("returns an order with the same lines, after one request to compare", async () => {
    const { emulator, partner, settle } = setUp();
    const order = orderOf(emulator, "A");
    const { reference } = await settle(partner.orders.ensure(order));
    const before = emulator.requests.length;
    expect(await settle(partner.orders.ensure(order))).toMatchObject({ reference, recovered: true });
    expect(emulator.requests.slice(before).map(({ path }) => path.split("?")[0])).toEqual([
      "/utilities/lookup-order-reference-by-custom-identifier",
      `/orders/${reference}`,
    ]);
  });

  it("compares the order as the option `body` changed it", async () => {
    const { emulator, partner, settle } = setUp();
    const order = orderOf(emulator, "A");
    await settle(partner.orders.ensure(order));
    const { orderlines } = withQuantity(order, 7);
    const error = await settle(rejection(partner.orders.ensure(order, { body: { order: { orderlines } } })));
    expect(error).toMatchObject({ name: "OrderMismatchError" });
  });

  it("does not compare with `compare: false`", async () => {
    const { emulator, partner, settle } = setUp();
    const order = orderOf(emulator, "A");
    const { reference } = await settle(partner.orders.ensure(order));
    const before = emulator.requests.length;
    const placed = await settle(partner.orders.ensure(withQuantity(order, 99), { compare: false }));
    expect(placed).toMatchObject({ reference, recovered: true });
    expect(emulator.requests).toHaveLength(before + 1);
  });

  it("reports the mismatch as one row's outcome in `ensureMany`", async () => {
    const { emulator, partner, settle } = setUp();
    const order = orderOf(emulator, "A");
    await settle(partner.orders.ensure(order));
    const outcomes: unknown[] = [];
    const consume = async () => {
      for await (const outcome of partner.orders.ensureMany([withQuantity(order, 3), orderOf(emulator, "B")]))
        outcomes.push(outcome.ok ? outcome.value.customIdentifier : Reflect.get(Object(outcome.error), "name"));
    };
    await settle(consume());
    expect(outcomes.sort()).toEqual(["B", "OrderMismatchError"]);
  });
});
