import { expect } from "vitest";
import { address, type Bench, setUp } from "../support.ts";

/** A world with orders, a shipment, its callback that waits, a claim with evidence, a render, a fault, a second organization and drawn tokens. */
export async function busy(): Promise<Bench> {
  const bench = setUp({
    seed: { orders: 2 },
    callbackUrl: "http://shop.test/callback",
    callbacks: { fetch: () => new Response(null, { status: 503 }) },
    organizations: [
      {
        name: "Other prints",
        keys: [{ secretKey: "key-of-other-prints" }],
        stores: [{ name: "Other", legacyCode: "OTHER" }],
      },
    ],
  });
  const { emulator, demo, post } = bench;
  const imageReference = await bench.image();
  const order = {
    storeReference: demo.stores.api,
    shippingKind: "dropship",
    customIdentifier: "shop-1",
    dropshipAddress: address,
    orderlines: [{ productReference: demo.products.slimCase, imageReference, quantity: 2 }],
  };
  const { reference } = (await post("/orders", { order })).body.order;
  const shipmentReference = emulator.ship(reference);
  await emulator.callbacks.idle();
  expect(
    (await post("/renders", { render: { compositionReference: demo.compositions.studio, imageReference } })).status,
  ).toBe(200);
  const claimline = {
    orderlineIndex: 1,
    quantity: 1,
    claimcategoryReference: demo.claimcategories.damaged,
    evidenceReferences: [await bench.evidence()],
  };
  const claim = { shipmentReference, orderReference: reference, claimlines: [claimline] };
  expect((await post("/claim-item-issues", { claim })).status).toBe(200);
  emulator.updateProduct(demo.products.wallet, { status: "ended", availableQuantity: 7 });
  emulator.automate({ production: { hours: 4 }, review: { after: { days: 2 }, decision: "refund" } });
  emulator.faults.add({ on: "orders.create", nth: 3, fault: "drop" });
  emulator.drain("uploads", { tokens: 40 });
  return bench;
}
