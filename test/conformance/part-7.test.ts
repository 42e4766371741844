import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { endpoints, filledPath, nameOf, readByReference } from "./support/endpoints.ts";
import { address, combined, orderInput, renderInput, sendOrder, shipped, unknownRef } from "./support/inputs.ts";
import { expectRefusal, startService } from "./support/service.ts";
import { errorObject, expectShape } from "./support/shapes.ts";

it.each(endpoints.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  "7 rule 1: every refusal of %s has the error object",
  async (_, endpoint) => {
    await using service = await startService();
    const path = filledPath(endpoint);
    const unknownPath = `${path}/nothing`;
    const refusals = [
      await service.send(endpoint.method, path, { key: null }),
      await service.send(endpoint.method, unknownPath),
      await service.send("DELETE", path),
      await service.send("PATCH", path, { json: {} }),
      await service.get(`${path}?undocumented=1&cursor=wrong`),
      ...(endpoint.method === "GET" ? [] : [await service.send(endpoint.method, path, { bytes: "{" })]),
    ].filter(({ status }) => status >= 400);
    expect(refusals.length).toBeGreaterThan(3);
    for (const { status, body } of refusals) {
      expect(Math.floor(status / 100)).toBe(4);
      expectShape(body, errorObject);
    }
  },
);

it("7 rule 1: odd paths have the error object", async () => {
  await using service = await startService();
  for (const path of [
    "",
    "/",
    "//",
    "/orders/",
    "/orders//cancel",
    "/orders/%zz",
    "/orders/%00",
    "/orders/..%2Fitems",
  ]) {
    const refused = await service.get(path);
    expect([path, Math.floor(refused.status / 100)]).toEqual([path, 4]);
    expectShape(refused.body, errorObject);
  }
});

it("7 rule 1: headers that are too large have the error object", async () => {
  await using service = await startService();
  const headers = { "X-Large": "x".repeat(20_000) };
  expectRefusal(await service.send("GET", "/stores", { headers }), 431);
  expect((await service.get("/stores")).status).toBe(200);
});

it("7 rule 1: a request that is not HTTP has the error object", async () => {
  await using service = await startService();
  const { port, hostname } = new URL(service.emulator.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write("NONSENSE\r\n\r\n");
  const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expectShape(JSON.parse(body), errorObject);
});

it("7 status 200: a successful reading has 200", async () => {
  await using service = await startService();
  for (const path of ["/organization", "/orders", "/rendertokens"]) expect((await service.get(path)).status).toBe(200);
});

it("7 status 400, 7 code unknown_input_error: invalid data has 400", async () => {
  await using service = await startService();
  expectRefusal(await service.post("/orders", { order: {} }), 400, "unknown_input_error");
  expectRefusal(await sendOrder(service, { orderlines: [] }), 400, "unknown_input_error");
});

it("7 status 403, 7 code store_not_writable_via_api: a store of another integration has 403", async () => {
  await using service = await startService();
  const { api, shopify } = service.demo.stores;
  expectRefusal(await sendOrder(service, { storeReference: shopify }), 403, "store_not_writable_via_api");
  service.emulator.setStoreIntegration(api, "woocommerce");
  expectRefusal(await sendOrder(service), 403, "store_not_writable_via_api");
});

it.each(readByReference)("%s, 7 status 404: a resource that does not exist has 404", async (_rule, endpoint) => {
  await using service = await startService();
  expectRefusal(await service.get(filledPath(endpoint)), 404);
});

it("7 status 409: a request that the state of the order forbids has 409", async () => {
  await using service = await startService();
  const { order } = await shipped(service);
  expectRefusal(await service.put(`/orders/${order}/dropship-address`, { dropshipAddress: address }), 409);
});

it("7 status 410: everything about an archived product is gone", async () => {
  await using service = await startService();
  const { slimCase8 } = service.demo.products;
  for (const path of ["", "/media/example.png", "/media/render.png"]) {
    expectRefusal(await service.get(`/products/${slimCase8}${path}`), 410);
  }
});

it("7 status 429, 7 code rate_limited: an empty bucket has 429", async () => {
  await using service = await startService({ limits: { default: { quota: 1, window: 60_000 } } });
  expect((await service.get("/stores")).status).toBe(200);
  expectRefusal(await service.get("/stores"), 429, "rate_limited");
});

it("7 status 429, 7 code rendertoken_limit_exceeded: too few rendertokens have 429", async () => {
  await using service = await startService({ rendertokenLimit: 0 });
  expectRefusal(await service.post("/renders", await renderInput(service)), 429, "rendertoken_limit_exceeded");
});

it("7 code missing_address: a dropship order without an address", async () => {
  await using service = await startService();
  expectRefusal(await sendOrder(service, { dropshipAddress: undefined }), "4xx", "missing_address");
});

it("7 code missing_address: not for a combined order, and not for an address of another type", async () => {
  await using service = await startService();
  const wrong = [{ ...combined, dropshipAddress: null }, { dropshipAddress: "Damrak 1" }, { dropshipAddress: [] }];
  for (const changes of wrong) expectRefusal(await sendOrder(service, changes), 400, "unknown_input_error");
});

it("7 code missing_image_reference: a print product without an image", async () => {
  await using service = await startService();
  const orderlines = [{ productReference: service.demo.products.toughCase, quantity: 1 }];
  expectRefusal(await sendOrder(service, { orderlines }), "4xx", "missing_image_reference");
  expectRefusal(await sendOrder(service, { ...combined, orderlines }), "4xx", "missing_image_reference");
});

it("7 code invalid_address_missing_email: a dropship address without an e-mail", async () => {
  await using service = await startService();
  const { email: _, ...dropshipAddress } = address;
  expectRefusal(await sendOrder(service, { dropshipAddress }), 400, "invalid_address_missing_email");
});

it("7 code invalid_address_missing_email: not for an e-mail that is there, but is not a string", async () => {
  await using service = await startService();
  for (const email of [7, true, ["ada@shop.example"]]) {
    expectRefusal(await sendOrder(service, { dropshipAddress: { ...address, email } }), 400, "unknown_input_error");
  }
});

it("7 code invalid_address_denied_country: a denied destination, in an order and a quote", async () => {
  await using service = await startService();
  const dropshipAddress = { ...address, countryCode: "KP" };
  expectRefusal(await sendOrder(service, { dropshipAddress }), 400, "invalid_address_denied_country");
});

it.each(["slimCaseFold", "slimCase13", "slimCase8"] as const)(
  "7 code product_not_orderable: an order of %s",
  async (name) => {
    await using service = await startService();
    const { order } = await orderInput(service);
    const [line] = order.orderlines as readonly object[];
    const orderlines = [{ ...line, productReference: service.demo.products[name] }];
    expectRefusal(await sendOrder(service, { orderlines }), "4xx", "product_not_orderable");
  },
);

it("7 code shipment_too_recent: a package-missing claim on the day of the shipment", async () => {
  await using service = await startService();
  const { shipment } = await shipped(service);
  const claim = { shipmentReference: shipment, evidenceReferences: [] };
  expectRefusal(await service.post("/claim-package-missing", { claim }), "4xx", "shipment_too_recent");
});

it("7 code unknown_input_error: a reference in a body that no resource has", async () => {
  await using service = await startService();
  expectRefusal(await sendOrder(service, { storeReference: unknownRef("Store") }), 400, "unknown_input_error");
});
