import { expect } from "vitest";
import { runControl, tryControl } from "../support/controls.ts";
import { claimed, placeOrder, readClaim, readOrder, sendOrder } from "../support/inputs.ts";
import { expectRefusal, startService } from "../support/service.ts";
import type { Effects } from "./effects.ts";

/** The effects of the controls of orders, claims and stores. */
export const effectsOnOrders: Effects = {
  ship: async () => {
    await using service = await startService();
    const order = await placeOrder(service);
    const lines = [{ index: 1, quantity: 2 }];
    const shipment = await runControl(service, "ship", { orders: order, lines });
    const { orderlines } = await readOrder(service, order);
    expect(orderlines.map((line: { shippedQuantity: number }) => line.shippedQuantity)).toEqual([2, 0]);
    expect((await service.get(`/shipments/${shipment}`)).body.shipment.reference).toBe(shipment);
  },
  startProduction: async () => {
    await using service = await startService();
    const order = await placeOrder(service);
    const cancel = () => service.post(`/orders/${order}/cancel`, { orderlines: [{ index: 1, canceledQuantity: 1 }] });
    await runControl(service, "startProduction", { order });
    expectRefusal(await cancel(), 409, "already_in_production");
  },
  hold: async () => {
    await using service = await startService();
    const order = await placeOrder(service);
    await runControl(service, "hold", { order, reason: "The image is too dark" });
    expect((await readOrder(service, order)).onHold).toEqual({ reason: "The image is too dark" });
    expect(await tryControl(service, "ship", { orders: order })).toMatchObject({
      status: 400,
      body: { code: "refused" },
    });
  },
  release: async () => {
    await using service = await startService();
    const order = await placeOrder(service);
    await runControl(service, "hold", { order, reason: "The image is too dark" });
    await runControl(service, "release", { order });
    expect((await readOrder(service, order)).onHold).toBeNull();
    expect(await runControl(service, "ship", { orders: order })).toMatch(/^Shipment_/);
  },
  reviewClaim: async () => {
    await using service = await startService();
    const { claim } = await claimed(service);
    const review = { claim, decision: "refund", refundShippingCosts: true, comment: "Sorry" };
    await runControl(service, "reviewClaim", review);
    const { status, decision, claimlines } = await readClaim(service, claim);
    expect(status).toBe("resolved");
    expect(decision).toEqual({ decided: expect.any(String), refundShippingCosts: true, comment: "Sorry" });
    expect(claimlines[0].decision).toMatchObject({ refundQuantity: 1, replacementQuantity: 0, rejectionQuantity: 0 });
  },
  setStoreIntegration: async () => {
    await using service = await startService();
    await runControl(service, "setStoreIntegration", { store: service.demo.stores.api, integration: "etsy" });
    const { stores } = (await service.get("/stores")).body;
    const changed = stores.filter(({ reference }: { reference: string }) => reference === service.demo.stores.api);
    expect(changed).toMatchObject([{ integration: "etsy" }]);
    expectRefusal(await sendOrder(service), 403, "store_not_writable_via_api");
  },
  automate: async () => {
    await using service = await startService();
    await runControl(service, "automate", { production: { hours: 4 }, shipping: { days: 1 } });
    const order = await placeOrder(service);
    const shipped = async () => (await readOrder(service, order)).orderlines[0].shippedQuantity;
    service.clock.advance(27 * 3_600_000);
    expect(await shipped()).toBe(0);
    service.clock.advance(3_600_000);
    expect(await shipped()).toBe(3);
  },
  seed: async () => {
    await using service = await startService();
    const planted = await runControl(service, "seed", { orders: [{ onHold: "Check it" }] });
    const { orders } = (await service.get("/orders")).body;
    expect(orders).toHaveLength(1);
    expect((await readOrder(service, orders[0].reference)).onHold).toEqual({ reason: "Check it" });
    expect(JSON.stringify(planted)).toContain(orders[0].reference);
  },
};
