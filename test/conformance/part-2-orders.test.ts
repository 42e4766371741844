import { expect, it } from "vitest";
import { combined, imageOf, placeOrder, readOrder, sendOrder, unknownRef } from "./support/inputs.ts";
import { expectCreated, expectRefusal, type Service, startService } from "./support/service.ts";
import { expectShape, filled, integer, like, list, object, ref, text } from "./support/shapes.ts";

it("2.4 status: an order's status is an object", async () => {
  await using service = await startService();
  expectShape((await readOrder(service, await placeOrder(service))).status, object());
});

it("2.4 orderlines: an order has its lines in their order", async () => {
  await using service = await startService();
  const { slimCase, screenProtector } = service.demo.products;
  const { orderlines } = await readOrder(service, await placeOrder(service));
  expect(orderlines).toMatchObject([
    { index: 1, productReference: slimCase, quantity: 3 },
    { index: 2, productReference: screenProtector, quantity: 2 },
  ]);
});

it("2.4 onHold: it is null, carries the reason while production is on hold, and is null again", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  expect((await readOrder(service, order)).onHold).toBeNull();
  service.emulator.hold(order, "The image has a low resolution");
  expect((await readOrder(service, order)).onHold).toMatchObject({ reason: "The image has a low resolution" });
  service.emulator.release(order);
  expect((await readOrder(service, order)).onHold).toBeNull();
});

it("2.4 legacyOrderCode: it has the code of the order's store and a number of its own", async () => {
  await using service = await startService();
  const { stores } = (await service.get("/stores")).body;
  const codes = new Set<string>();
  for (const { reference, legacyCode } of stores.filter(
    ({ integration }: { integration: string }) => integration === "api",
  )) {
    const order = await readOrder(service, await placeOrder(service, { storeReference: reference }));
    expectShape(order.legacyOrderCode, like(new RegExp(`^${legacyCode}-\\d+$`)));
    codes.add(order.legacyOrderCode);
  }
  expect(codes.size).toBe(2);
});

it("2.4 input unknown: an order with an unknown field is refused", async () => {
  await using service = await startService();
  expectRefusal(await sendOrder(service, { note: "fragile" }), 400);
});

it("2.4 input storeReference, 7 code unknown_input_error: an order without a store, or with one that does not exist, is refused", async () => {
  await using service = await startService();
  expectRefusal(await sendOrder(service, { storeReference: undefined }), 400);
  expectRefusal(await sendOrder(service, { storeReference: unknownRef("Store") }), 400, "unknown_input_error");
});

it("2.4 input shippingKind: only dropship and combined are accepted", async () => {
  await using service = await startService();
  for (const shippingKind of [undefined, null, "", "Dropship", "pickup"]) {
    expectRefusal(await sendOrder(service, { shippingKind }), 400);
  }
  expectCreated(await sendOrder(service, combined));
  expectCreated(await sendOrder(service, { shippingKind: "dropship" }));
});

const countOrders = async (service: Service) => (await service.get("/orders")).body.orders.length;

it("2.4 input customIdentifier: a retried request makes no second order", async () => {
  await using service = await startService();
  expectCreated(await sendOrder(service, { customIdentifier: "shop-1" }));
  await sendOrder(service, { customIdentifier: "shop-1" });
  expect(await countOrders(service)).toBe(1);
});

it("2.4 input customIdentifier: equal requests without it, or with others, make an order each", async () => {
  await using service = await startService();
  for (const customIdentifier of [undefined, undefined, "shop-1", "shop-2"]) {
    expectCreated(await sendOrder(service, { customIdentifier }));
  }
  expect(await countOrders(service)).toBe(4);
});

it("2.4 input dropshipAddress, 7 code missing_address: it is required for dropship", async () => {
  await using service = await startService();
  expectRefusal(await sendOrder(service, { dropshipAddress: undefined }), "4xx", "missing_address");
});

it("2.4 input dropshipAddress: it is refused for combined, and a combined order has none", async () => {
  await using service = await startService();
  expectRefusal(await sendOrder(service, { shippingKind: "combined" }), 400);
  const { dropshipAddressReference = null } = await readOrder(service, await placeOrder(service, combined));
  expect(dropshipAddressReference).toBeNull();
});

it("2.4 input dropshipMinimalShippingLevel: three levels are accepted, for dropship only", async () => {
  await using service = await startService();
  for (const level of ["basic", "tracked", "express"]) {
    expectCreated(await sendOrder(service, { dropshipMinimalShippingLevel: level }));
    expectRefusal(await sendOrder(service, { ...combined, dropshipMinimalShippingLevel: level }), 400);
  }
  for (const level of ["Tracked", "overnight", "", 1]) {
    expectRefusal(await sendOrder(service, { dropshipMinimalShippingLevel: level }), 400);
  }
});

it("2.4 input dropshipMinimalShippingLevel: the default is basic", async () => {
  await using service = await startService();
  const shipment = service.emulator.ship(await placeOrder(service));
  expect((await service.get(`/shipments/${shipment}`)).body.shipment.trackingNumber ?? null).toBeNull();
});

it("2.4 input orderlines: an order without lines is refused", async () => {
  await using service = await startService();
  for (const orderlines of [undefined, null, []]) expectRefusal(await sendOrder(service, { orderlines }), 400);
});

const withLine = async (service: Service, line: Readonly<Record<string, unknown>>) => {
  const { slimCase: productReference } = service.demo.products;
  const imageReference = await imageOf(service);
  return sendOrder(service, { orderlines: [{ productReference, imageReference, quantity: 1, ...line }] });
};

it("2.5 input productReference: a line without a product, or with one that does not exist, is refused", async () => {
  await using service = await startService();
  expectRefusal(await withLine(service, { productReference: undefined }), 400);
  expectRefusal(await withLine(service, { productReference: unknownRef("Product") }), "4xx");
});

it("2.5 input imageReference, 7 code missing_image_reference: a print product requires an existing one", async () => {
  await using service = await startService();
  expectRefusal(await withLine(service, { imageReference: undefined }), "4xx", "missing_image_reference");
  expectRefusal(await withLine(service, { imageReference: unknownRef("Image") }), "4xx");
});

it("2.5 input imageReference: it must be absent for a screen protector", async () => {
  await using service = await startService();
  const { screenProtector: productReference } = service.demo.products;
  expectRefusal(await withLine(service, { productReference }), 400);
  expectCreated(await withLine(service, { productReference, imageReference: undefined }));
});

it.each([undefined, null, "1", 1.5, 0, -1, 1e300])("2.5 input quantity: %j is refused", async (quantity) => {
  await using service = await startService();
  expectRefusal(await withLine(service, { quantity }), 400);
});

it("2.5 input annotations, 8 limit annotations: 10 are accepted, 11 are refused", async () => {
  await using service = await startService();
  const annotations = Array.from({ length: 11 }, (_, index) => ({ key: `key ${index}`, value: "v" }));
  expectCreated(await withLine(service, { annotations: annotations.slice(1) }));
  expectCreated(await withLine(service, { annotations: [] }));
  expectRefusal(await withLine(service, { annotations }), 400);
});

it("2.5 input annotations: each has a string key and a string value, and no other field", async () => {
  await using service = await startService();
  for (const wrong of [{ key: "k" }, { value: "v" }, { key: 1, value: "v" }, { key: "k", value: null }, "k=v"]) {
    expectRefusal(await withLine(service, { annotations: [wrong] }), 400);
  }
  expectRefusal(await withLine(service, { annotations: [{ key: "k", value: "v", more: "m" }] }), 400);
  expectRefusal(await withLine(service, { annotations: { key: "k", value: "v" } }), 400);
});

const linesOf = async (service: Service) => (await readOrder(service, await placeOrder(service))).orderlines;

it("2.5 index: lines are counted from 1", async () => {
  await using service = await startService();
  expect((await linesOf(service)).map(({ index }: { index: number }) => index)).toEqual([1, 2]);
});

it("2.5 quantities: three integers follow cancellations and shipments", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  const quantities = list(object({ quantity: integer, canceledQuantity: integer, shippedQuantity: integer }));
  expectShape((await readOrder(service, order)).orderlines, quantities);
  await service.post(`/orders/${order}/cancel`, { orderlines: [{ index: 1, canceledQuantity: 1 }] });
  service.emulator.ship(order, { lines: [{ index: 1, quantity: 2 }] });
  expect((await readOrder(service, order)).orderlines).toMatchObject([
    { quantity: 3, canceledQuantity: 1, shippedQuantity: 2 },
    { quantity: 2, canceledQuantity: 0, shippedQuantity: 0 },
  ]);
});

it("2.5 annotations: they are returned unchanged, and empty when none were given", async () => {
  await using service = await startService();
  const annotations = [
    { key: "ünï 漢", value: "" },
    { key: "__proto__", value: '"<&>"\n' },
    { key: "ünï 漢", value: "again" },
  ];
  const { body } = await withLine(service, { annotations });
  const [line] = (await readOrder(service, body.order.reference)).orderlines;
  expect(line.annotations).toEqual(annotations);
  expect((await linesOf(service))[0].annotations).toEqual([]);
});

it("2.5 references: a line has the references of its product and image", async () => {
  await using service = await startService();
  const [printed, plain] = await linesOf(service);
  expectShape(printed, object({ productReference: ref("Product"), imageReference: ref("Image") }));
  expectShape(plain, object({ productReference: ref("Product") }));
  expect(plain.imageReference ?? null).toBeNull();
  expect(printed.imageReference).toBe(await imageOf(service));
});

it("2.5 legacySku: a line has the legacy SKU of its product", async () => {
  await using service = await startService();
  const lines = await linesOf(service);
  expectShape(lines, list(object({ legacySku: filled, productReference: text })));
  const { product } = (await service.get(`/products/${lines[0].productReference}`)).body;
  expect(lines[0].legacySku).toBe(product.legacyItemSKU);
});
