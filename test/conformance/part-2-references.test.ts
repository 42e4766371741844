import { expect, it } from "vitest";
import { bodiesOf } from "./support/bodies.ts";
import { filledPath, kinds, nameOf, ofOneResource } from "./support/endpoints.ts";
import { orderInput, placeOrder, renderInput, unknownRef } from "./support/inputs.ts";
import { expectRefusal, type Service, startService } from "./support/service.ts";
import { expectShape, filled, like, textsOf } from "./support/shapes.ts";

const pattern = /^([A-Z][a-z]+)_[0123456789abcdefghjkmnpqrstvwxyz]{26}$/;

const looksLikeReference = (text: string) => /^[A-Z][a-z]+_/.test(text);

const referencesOf = async (service: Service) =>
  textsOf((await bodiesOf(service)).map(([, body]) => body)).filter(looksLikeReference);

it("2.1 pattern: every reference has its kind and 26 characters of the set", async () => {
  await using service = await startService();
  const references = await referencesOf(service);
  expect(references.length).toBeGreaterThan(100);
  expect(references.filter((reference) => !pattern.test(reference))).toEqual([]);
});

it("2.1 kinds: every reference is of a kind of the table", async () => {
  await using service = await startService();
  const used = new Set((await referencesOf(service)).map((reference) => reference.split("_")[0]));
  expect(kinds).toEqual(expect.arrayContaining([...used]));
  expect(used.size).toBeGreaterThan(14);
});

it.each(ofOneResource.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  "2.1 kinds: %s refuses a reference of another kind, and one that is too short",
  async (_, endpoint) => {
    await using service = await startService();
    const path = filledPath(endpoint);
    for (const wrong of [path.replace(/[A-Z][a-z]+_/, "Key_"), path.replace("zzz", ""), path.replace("zzz", "zuz")]) {
      expectRefusal(await service.send(endpoint.method, wrong), "4xx");
    }
  },
);

it("2.1 kinds: a reference of another kind in a body is refused", async () => {
  await using service = await startService();
  expectRefusal(await service.post("/orders", await orderInput(service, { storeReference: unknownRef("Brand") })), 400);
  const { render } = await renderInput(service);
  const swapped = { compositionReference: render.imageReference, imageReference: render.compositionReference };
  expectRefusal(await service.post("/renders", { render: swapped }), 400);
});

it("2.1 unique: two organizations have no reference in common", async () => {
  await using one = await startService();
  await using other = await startService();
  const ofOne = new Set(await referencesOf(one));
  expect((await referencesOf(other)).filter((reference) => ofOne.has(reference))).toEqual([]);
});

it("2.1 unique: each new order, claim line and address has a reference of its own", async () => {
  await using service = await startService();
  const orders = [];
  for (let number = 0; number < 20; number += 1) orders.push(await placeOrder(service));
  const read = await Promise.all(orders.map(async (order) => (await service.get(`/orders/${order}`)).body.order));
  const references = [...orders, ...read.map(({ dropshipAddressReference }) => dropshipAddressReference)];
  expect(new Set(references).size).toBe(40);
});

it("2.1 stable: references are the same at each reading, and after a year", async () => {
  await using service = await startService();
  const paths = ["/products", "/stores", "/brands", "/scenes", "/perspectives", "/items", "/claimcategories"];
  const read = () => Promise.all(paths.map(async (path) => textsOf((await service.get(path)).body)));
  const before = await read();
  service.clock.advance(366 * 86_400_000);
  expect(await read()).toEqual(before);
});

/** A refusal for each reason: of the key, the path, the input, the resource, the state. */
async function refusals(service: Service) {
  const order = await placeOrder(service);
  service.emulator.startProduction(order);
  return [
    await service.send("GET", "/orders", { key: null }),
    await service.get("/nowhere"),
    await service.get(`/orders/${unknownRef("Order")}`),
    await service.get(`/products/${service.demo.products.slimCase8}`),
    await service.post("/orders", {}),
    await service.post(`/orders/${order}/cancel`, { orderlines: [{ index: 1, canceledQuantity: 1 }] }),
    await service.post("/orders", await orderInput(service, { storeReference: service.demo.stores.shopify })),
  ];
}

it("2.2 code: the code of every refusal is in lower_snake_case", async () => {
  await using service = await startService();
  const codes = (await refusals(service)).map(({ body }) => body.code);
  for (const code of codes) expectShape(code, like(/^[a-z]+(_[a-z]+)*$/));
  expect(new Set(codes).size).toBeGreaterThan(4);
});

it("2.2 message: every refusal has a message for people", async () => {
  await using service = await startService();
  for (const { body } of await refusals(service)) expectShape(body.message, filled);
});
