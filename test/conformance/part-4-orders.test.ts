import { expect, it } from "vitest";
import { address, combined, placeOrder, readOrder, sendOrder, shipped, unknownRef } from "./support/inputs.ts";
import { expectCreated, expectRefusal, type Service, startService } from "./support/service.ts";
import { expectShape, list, object, ref, textsOf } from "./support/shapes.ts";

it("4.7 POST /orders, 2.4 reference: a new order has its reference", async () => {
  await using service = await startService();
  const created = await sendOrder(service);
  expectCreated(created);
  expectShape(created.body, object({ order: object({ reference: ref("Order") }) }));
  const { reference } = created.body.order;
  expect((await readOrder(service, reference)).reference).toBe(reference);
});

const cancel = (service: Service, order: string, ...totals: readonly (readonly [index: number, total: number])[]) =>
  service.post(`/orders/${order}/cancel`, {
    orderlines: totals.map(([index, canceledQuantity]) => ({ index, canceledQuantity })),
  });

const canceled = async (service: Service, order: string) =>
  (await readOrder(service, order)).orderlines.map(
    ({ canceledQuantity }: { canceledQuantity: number }) => canceledQuantity,
  );

it("4.7 POST /orders/{orderReference}/cancel, 7 status 204: 204 without a body, or 404", async () => {
  await using service = await startService();
  const { status, bytes } = await cancel(service, await placeOrder(service), [1, 1]);
  expect([status, bytes.byteLength]).toEqual([204, 0]);
  expectRefusal(await cancel(service, unknownRef("Order"), [1, 1]), 404);
});

it("4.7 cancel rule 1: the quantity is the total of the line, and other lines keep theirs", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  await cancel(service, order, [1, 1]);
  await cancel(service, order, [2, 2]);
  expect(await canceled(service, order)).toEqual([1, 2]);
  await cancel(service, order, [1, 2]);
  expect(await canceled(service, order)).toEqual([2, 2]);
});

it("4.7 cancel rule 2: a repeated request has 204 and changes nothing more", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  for (const _ of [1, 2, 3]) {
    expect((await cancel(service, order, [1, 2], [2, 0])).status).toBe(204);
    expect(await canceled(service, order)).toEqual([2, 0]);
  }
});

it("4.7 cancel rule 2: a repeated request of a completely canceled order has 204", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  for (const _ of [1, 2]) expect((await cancel(service, order, [1, 3], [2, 2])).status).toBe(204);
});

it("4.7 cancel rule 3: nothing is canceled when one line fails", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  await cancel(service, order, [2, 1]);
  const failing = [
    [2, 0],
    [2, 3],
    [9, 1],
  ] as const;
  for (const line of failing) {
    expectRefusal(await cancel(service, order, [1, 3], line), "4xx");
    expectRefusal(await cancel(service, order, line, [1, 3]), "4xx");
    expect(await canceled(service, order)).toEqual([0, 1]);
  }
});

it("4.7 cancel rule 4, 7 status 409, 7 code canceled_quantity_below_current: a lower total has 409", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  await cancel(service, order, [1, 2]);
  for (const total of [0, 1]) {
    expectRefusal(await cancel(service, order, [1, total]), 409, "canceled_quantity_below_current");
  }
});

it("4.7 cancel rule 4, 3.4 fact 3, 7 code canceled_quantity_exceeds_shippable: more than quantity minus shipped has 409", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  expectRefusal(await cancel(service, order, [1, 4]), 409, "canceled_quantity_exceeds_shippable");
  service.emulator.ship(order, { lines: [{ index: 1, quantity: 1 }] });
  expectRefusal(await cancel(service, order, [1, 3]), 409, "canceled_quantity_exceeds_shippable");
  expect((await cancel(service, order, [1, 2])).status).toBe(204);
});

it("4.7 cancel rule 4, 3.4 fact 2, 7 code already_in_production: an order in production has 409", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  service.emulator.startProduction(order);
  for (const total of [1, 3]) {
    expectRefusal(await cancel(service, order, [1, total]), 409, "already_in_production");
  }
  expect(await canceled(service, order)).toEqual([0, 0]);
});

it("4.7 cancel rule 4, 7 code store_not_writable_via_api: an upstream store has 403", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  service.emulator.setStoreIntegration(service.demo.stores.api, "shopify");
  expectRefusal(await cancel(service, order, [1, 1]), 403, "store_not_writable_via_api");
  expect(await canceled(service, order)).toEqual([0, 0]);
});

const replace = (service: Service, order: string, dropshipAddress: unknown = address) =>
  service.put(`/orders/${order}/dropship-address`, { dropshipAddress });

const addressOf = async (service: Service, order: string) => {
  const { dropshipAddressReference } = await readOrder(service, order);
  return (await service.get(`/addresses/${dropshipAddressReference}`)).body.address;
};

it("4.7 PUT /orders/{orderReference}/dropship-address, 7 status 204: 204 without a body, or 404", async () => {
  await using service = await startService();
  const { status, bytes } = await replace(service, await placeOrder(service));
  expect([status, bytes.byteLength]).toEqual([204, 0]);
  expectRefusal(await replace(service, unknownRef("Order")), 404);
});

it("4.7 address rule 1: the new address replaces the whole old one", async () => {
  await using service = await startService();
  const order = await placeOrder(service, { dropshipAddress: { ...address, company: "Navy", phonenumber: "+1 555" } });
  await replace(service, order, { countryCode: "BE", email: "new@shop.example", city: "Gent" });
  const { company, phonenumber, streetname, city, countryCode } = await addressOf(service, order);
  expect({ company, phonenumber, streetname }).toEqual({ company: "", phonenumber: "", streetname: "" });
  expect({ city, countryCode }).toEqual({ city: "Gent", countryCode: "BE" });
});

it("4.7 address rule 1: it is allowed while the order is open, also in production and after a part was shipped", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  service.emulator.startProduction(order);
  expect((await replace(service, order)).status).toBe(204);
  service.emulator.ship(order, { lines: [{ index: 1, quantity: 3 }] });
  expect((await replace(service, order)).status).toBe(204);
});

it.each([
  ["no address", undefined, "missing_address"],
  ["no e-mail", { ...address, email: "" }, "invalid_address_missing_email"],
  ["a denied country", { ...address, countryCode: "KP" }, "invalid_address_denied_country"],
  ["no state in the US", { ...address, countryCode: "US" }, undefined],
  ["a country in small letters", { ...address, countryCode: "nl" }, undefined],
] as const)("4.7 address rule 4: %s has the status and code of order creation", async (_, wrong, code) => {
  await using service = await startService();
  const order = await placeOrder(service);
  const before = await addressOf(service, order);
  const atCreation = await sendOrder(service, { dropshipAddress: wrong });
  const refused = await service.put(`/orders/${order}/dropship-address`, { dropshipAddress: wrong });
  expectRefusal(refused, atCreation.status, atCreation.body.code);
  if (code !== undefined) expect(refused.body.code).toBe(code);
  expect(await addressOf(service, order)).toEqual(before);
});

it("4.7 address rule 2, 2.4 dropshipAddressReference: an equal address gets a new reference, too", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  const references = [];
  for (const _ of [1, 2, 3]) {
    references.push((await readOrder(service, order)).dropshipAddressReference);
    await replace(service, order);
  }
  expectShape(references, list(ref("Address")));
  expect(new Set(references).size).toBe(3);
});

it("4.7 address rule 3: what a shipment was created with stays, and a replacement order goes there", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  const first = (await readOrder(service, order)).dropshipAddressReference;
  const shipment = service.emulator.ship(order, { lines: [{ index: 1, quantity: 1 }] });
  await replace(service, order, { ...address, city: "Utrecht" });
  expect((await service.get(`/addresses/${first}`)).body.address.city).toBe("Amsterdam");
  const line = { orderlineIndex: 1, quantity: 1, evidenceReferences: [] };
  const claimcategoryReference = service.demo.claimcategories.wrongItem;
  const claim = {
    shipmentReference: shipment,
    orderReference: order,
    claimlines: [{ ...line, claimcategoryReference }],
  };
  const filed = await service.post("/claim-item-issues", { claim });
  const replacement = service.emulator.reviewClaim(filed.body.claim.reference, { decision: "replacement" });
  expect((await addressOf(service, replacement ?? "")).city).toBe("Amsterdam");
});

it("4.7 address rule 4, 7 code order_completed: a shipped order and a canceled one have 409", async () => {
  await using service = await startService();
  expectRefusal(await replace(service, (await shipped(service)).order), 409, "order_completed");
  const order = await placeOrder(service);
  await cancel(service, order, [1, 3], [2, 2]);
  expectRefusal(await replace(service, order), 409, "order_completed");
});

it("4.7 address rule 4, 7 code order_not_dropship: a combined order has 409", async () => {
  await using service = await startService();
  expectRefusal(await replace(service, await placeOrder(service, combined)), 409, "order_not_dropship");
});

it("4.7 address rule 4, 7 code replacement_address_locked: a replacement order has 409", async () => {
  await using service = await startService();
  const { order, shipment } = await shipped(service);
  service.clock.advance(30 * 86_400_000);
  const claim = { shipmentReference: shipment, evidenceReferences: [] };
  const filed = await service.post("/claim-package-missing", { claim });
  const replacement = service.emulator.reviewClaim(filed.body.claim.reference, { decision: "replacement" });
  expectRefusal(await replace(service, replacement ?? ""), 409, "replacement_address_locked");
  expect(replacement).not.toBe(order);
});

it("4.10 GET /utilities/lookup-product-reference-by-legacy-sku: it has the product's reference, or 404", async () => {
  await using service = await startService();
  const lookup = (sku: string) =>
    service.get(`/utilities/lookup-product-reference-by-legacy-sku?${new URLSearchParams({ legacyItemSku: sku })}`);
  for (const { reference, legacyItemSKU } of (await service.get("/products")).body.products) {
    const { status, body } = await lookup(legacyItemSKU);
    expect([status, body.productReference]).toEqual([200, reference]);
  }
  expectRefusal(await lookup("NO-SUCH-SKU"), 404);
});

it("4.10 GET /utilities/lookup-order-reference-by-custom-identifier: it has the order's reference, or 404", async () => {
  await using service = await startService();
  const lookup = (identifier: string) =>
    service.get(
      `/utilities/lookup-order-reference-by-custom-identifier?${new URLSearchParams({ customIdentifier: identifier })}`,
    );
  for (const customIdentifier of ["shop-1", "ünï & 漢 ?=#%2F", "  spaces  "]) {
    const order = await placeOrder(service, { customIdentifier });
    const { status, body } = await lookup(customIdentifier);
    expect([status, textsOf(body)]).toEqual([200, [order]]);
  }
  expectRefusal(await lookup("shop-2"), 404);
});
