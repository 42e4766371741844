import { expect, it } from "vitest";
import { address, imageOf, quoteInput } from "./support/inputs.ts";
import { expectRefusal, type Service, startService } from "./support/service.ts";
import { expectShape, integer, list, object, oneOf } from "./support/shapes.ts";

const quote = (service: Service, changes?: Readonly<Record<string, unknown>>) =>
  service.post("/quote", quoteInput(service, changes));

/** The levels of a quote, in their order. */
async function levels(service: Service, changes?: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const { status, body } = await quote(service, changes);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body.shippingOptions.map(({ level }: { level: string }) => level);
}

it("4.7 POST /quote: it has levels with prices in whole cents", async () => {
  await using service = await startService();
  const { status, body } = await quote(service);
  expect(status).toBe(200);
  const option = object({ level: oneOf("basic", "tracked", "express"), price: integer });
  expectShape(body, object({ shippingOptions: list(option) }));
});

it("4.7 quote rule 1: nothing is stored", async () => {
  await using service = await startService();
  const before = (await service.get("/orders")).body;
  for (const _ of [1, 2, 3]) expect((await quote(service)).status).toBe(200);
  expect((await service.get("/orders")).body).toEqual(before);
});

it("4.7 quote rule 1: fields that do not determine shipping are refused", async () => {
  await using service = await startService();
  const [line] = quoteInput(service).quote.orderlines as readonly object[];
  const imageReference = await imageOf(service);
  expectRefusal(await quote(service, { customIdentifier: "shop-1" }), 400);
  expectRefusal(await quote(service, { orderlines: [{ ...line, imageReference }] }), 400);
  expectRefusal(await quote(service, { orderlines: [{ ...line, annotations: [] }] }), 400);
});

it.each([
  [undefined, ["basic", "tracked", "express"]],
  ["basic", ["basic", "tracked", "express"]],
  ["tracked", ["tracked", "express"]],
  ["express", ["express"]],
])("4.7 quote rule 2: with the minimal level %s the options are %j", async (dropshipMinimalShippingLevel, expected) => {
  await using service = await startService();
  expect(await levels(service, { dropshipMinimalShippingLevel })).toEqual(expected);
});

it("4.7 quote rule 2: a heavy or expensive order raises the lowest level", async () => {
  await using service = await startService();
  const many = [{ productReference: service.demo.products.toughCase, quantity: 500 }];
  expect(await levels(service, { orderlines: many })).toEqual(["tracked", "express"]);
});

it("4.7 quote rule 2: a destination without express lowers the level", async () => {
  await using service = await startService();
  const changes = { dropshipMinimalShippingLevel: "express", dropshipAddress: { ...address, countryCode: "MT" } };
  expect(await levels(service, changes)).toEqual(["tracked"]);
});

it.each(["basic", "tracked", "express"])(
  "4.7 quote rule 2: a parcel locker allows only tracked, also for %s",
  async (dropshipMinimalShippingLevel) => {
    await using service = await startService();
    const dropshipAddress = { ...address, countryCode: "DE", streetname: "Packstation 145" };
    expect(await levels(service, { dropshipMinimalShippingLevel, dropshipAddress })).toEqual(["tracked"]);
  },
);

it("4.7 quote rule 2: an order ships with the first level of its quote", async () => {
  await using service = await startService();
  const { toughCase, screenProtector } = service.demo.products;
  const lines = [{ productReference: screenProtector, quantity: 100 }];
  expect((await levels(service, { orderlines: lines }))[0]).toBe("tracked");
  const input = { storeReference: service.demo.stores.api, shippingKind: "dropship", dropshipAddress: address };
  const created = await service.post("/orders", { order: { ...input, orderlines: lines } });
  const shipment = service.emulator.ship(created.body.order.reference);
  expect((await service.get(`/shipments/${shipment}`)).body.shipment.trackingNumber).toEqual(expect.any(String));
  expect((await levels(service, { orderlines: [{ productReference: toughCase, quantity: 1 }] }))[0]).toBe("basic");
});

it("4.7 quote rule 3: a combined order has an empty list", async () => {
  await using service = await startService();
  expect(await levels(service, { shippingKind: "combined", dropshipAddress: undefined })).toEqual([]);
});

it("4.7 quote rule 4: the store is validated as in order creation, for both kinds", async () => {
  await using service = await startService();
  const storeReference = service.demo.stores.shopify;
  for (const kind of [{}, { shippingKind: "combined", dropshipAddress: undefined }]) {
    expectRefusal(await quote(service, { storeReference, ...kind }), 403, "store_not_writable_via_api");
  }
});

it.each(["slimCaseFold", "slimCase13", "slimCase8"] as const)(
  "4.7 quote rule 4: the product %s is refused as in order creation",
  async (name) => {
    await using service = await startService();
    const orderlines = [{ productReference: service.demo.products[name], quantity: 1 }];
    expectRefusal(await quote(service, { orderlines }), "4xx", "product_not_orderable");
  },
);

it("4.7 quote rule 4: a denied country is refused", async () => {
  await using service = await startService();
  const dropshipAddress = { ...address, countryCode: "KP" };
  expectRefusal(await quote(service, { dropshipAddress }), 400, "invalid_address_denied_country");
});

it("4.7 quote rule 4: phone, e-mail and lengths are not checked", async () => {
  await using service = await startService();
  for (const changes of [
    { email: "" },
    { email: undefined },
    { email: "none" },
    { phonenumber: "none" },
    { lastname: "x".repeat(5000) },
  ]) {
    expect((await levels(service, { dropshipAddress: { ...address, ...changes } })).length).toBe(3);
  }
});
