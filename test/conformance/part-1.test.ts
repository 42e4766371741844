import { expect, it } from "vitest";
import { bodiesOf } from "./support/bodies.ts";
import { combined, orderInput, placeOrder, shipped } from "./support/inputs.ts";
import { expectRefusal, type Service, startService } from "./support/service.ts";
import { expectShape, fieldsOf, filled, list, object, ref, textsOf, timestamp, url } from "./support/shapes.ts";

it("1 environments: references of the test environment differ from those of production", async () => {
  await using test = await startService({ environment: "test", seed: { number: 1 } });
  await using production = await startService({ environment: "production", seed: { number: 1 } });
  const references = async (service: Service) => {
    await placeOrder(service);
    const paths = ["/products", "/stores", "/orders", "/images", "/items", "/claimcategories", "/scenes"];
    const bodies = await Promise.all(paths.map(async (path) => (await service.get(path)).body));
    return textsOf(bodies).filter((text) => /^[A-Z][a-z]+_\w{26}$/.test(text));
  };
  const ofProduction = new Set(await references(production));
  const ofTest = await references(test);
  expect(ofTest.length).toBeGreaterThan(30);
  expect(ofTest.filter((reference) => ofProduction.has(reference))).toEqual([]);
});

it("1 store, 7 status 403: an order is accepted only in a store with the integration api", async () => {
  await using service = await startService();
  const { stores } = (await service.get("/stores")).body;
  const statuses = new Map<string, number>();
  for (const { reference, integration } of stores) {
    const { status } = await service.post("/orders", await orderInput(service, { storeReference: reference }));
    statuses.set(integration, status);
  }
  expect(statuses.get("api")).toBeLessThan(300);
  expect([...statuses].filter(([integration]) => integration !== "api").map(([, status]) => status)).toContain(403);
});

it.each(["/organization", "/accounts", "/stores", "/brands"])(
  "1 read-only: %s has no writing endpoint",
  async (path) => {
    await using service = await startService();
    const before = (await service.get(path)).body;
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      expectRefusal(await service.send(method, path, { json: { name: "Another name" } }), "4xx");
    }
    expect((await service.get(path)).body).toEqual(before);
  },
);

it("1 dropship, 2.10 shipment: a dropship order has a shipment of its own", async () => {
  await using service = await startService();
  const parcels = [await shipped(service), await shipped(service)];
  expect(parcels[0]?.shipment).not.toBe(parcels[1]?.shipment);
  for (const { order, shipment } of parcels) {
    const { reference, orders } = (await service.get(`/shipments/${shipment}`)).body.shipment;
    expect(reference).toBe(shipment);
    expect(orders).toHaveLength(1);
    expect(textsOf(orders)).toContain(order);
  }
});

it("1 combined: two combined orders are consolidated into one shipment", async () => {
  await using service = await startService();
  const orders = [await placeOrder(service, combined), await placeOrder(service, combined)];
  const shipment = service.emulator.ship(orders);
  const { body } = await service.get(`/shipments/${shipment}`);
  expect(body.shipment.orders).toHaveLength(2);
  expect(textsOf(body.shipment.orders)).toEqual(expect.arrayContaining(orders));
});

it("1 basic: a basic shipment has no carrier, tracking number or tracking page", async () => {
  await using service = await startService();
  const { shipment } = await shipped(service, { dropshipMinimalShippingLevel: "basic" });
  const { body } = await service.get(`/shipments/${shipment}`);
  const { carrier = null, trackingNumber = null, trackingUrl = null } = body.shipment;
  expect({ carrier, trackingNumber, trackingUrl }).toEqual({ carrier: null, trackingNumber: null, trackingUrl: null });
});

const tracking = object({ carrier: filled, trackingNumber: filled, trackingUrl: url });

it("1 tracked: a tracked shipment has carrier, tracking number and tracking page at once", async () => {
  await using service = await startService();
  const { shipment } = await shipped(service, { dropshipMinimalShippingLevel: "tracked" });
  expectShape((await service.get(`/shipments/${shipment}`)).body.shipment, tracking);
});

it("1 express: an express shipment has carrier, tracking number and tracking page at once", async () => {
  await using service = await startService();
  const { shipment } = await shipped(service, { dropshipMinimalShippingLevel: "express" });
  expectShape((await service.get(`/shipments/${shipment}`)).body.shipment, tracking);
});

it("1 item: one item of the warehouse has several products", async () => {
  await using service = await startService();
  const { items } = (await service.get("/items")).body;
  expect(items.some(({ products }: { products: readonly unknown[] }) => products.length > 1)).toBe(true);
});

it("1 convention 1: every field name is lowerCamelCase", async () => {
  await using service = await startService();
  const names = (await bodiesOf(service)).flatMap(([, body]) => fieldsOf(body).map(([name]) => name));
  expect(names.length).toBeGreaterThan(200);
  expect(names.filter((name) => !/^[a-z][a-zA-Z0-9]*$/.test(name))).toEqual([]);
});

it("1 convention 2: each list is under its plural name, and each resource under its own", async () => {
  await using service = await startService();
  for (const [{ path }, body] of await bodiesOf(service)) {
    const [, plural = "", reference] = path.split("/");
    const singular = plural === "addresses" ? "address" : plural.replace(/s$/, "");
    const wrapper = reference === undefined ? plural : singular;
    expect([path, Object.keys(body as object)]).toEqual([path, expect.arrayContaining([wrapper])]);
  }
});

it("1 convention 3: every timestamp is an ISO 8601 string", async () => {
  await using service = await startService();
  const isTime = /^(created|completed|resets|layersModified|printModified|modified)$/;
  const times = (await bodiesOf(service)).flatMap(([, body]) => fieldsOf(body).filter(([name]) => isTime.test(name)));
  expect(new Set(times.map(([name]) => name)).size).toBe(6);
  for (const [, value] of times) expectShape(value, timestamp);
});

it("1 convention 4: legacy fields hold v1 identifiers", async () => {
  await using service = await startService();
  const { order } = await shipped(service);
  const { stores } = (await service.get("/stores")).body;
  expectShape(stores, list(object({ reference: ref("Store"), legacyCode: filled })));
  const { legacyOrderCode, orderlines } = (await service.get(`/orders/${order}`)).body.order;
  expect(legacyOrderCode).toMatch(/^.+-\d+$/);
  const { legacyItemSKU } = (await service.get(`/products/${service.demo.products.slimCase}`)).body.product;
  expect(orderlines[0].legacySku).toBe(legacyItemSKU);
});
