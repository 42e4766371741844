import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { endpoints, filledPath, nameOf, readByReference } from "./support/endpoints.ts";
import { address, combined, orderInput, sendOrder } from "./support/inputs.ts";
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

it.each(readByReference)("%s, 7 status 404: a resource that does not exist has 404", async (_rule, endpoint) => {
  await using service = await startService();
  expectRefusal(await service.get(filledPath(endpoint)), 404);
});

it("7 status 410: everything about an archived product is gone", async () => {
  await using service = await startService();
  const { slimCase8 } = service.demo.products;
  for (const path of ["", "/media/example.png", "/media/render.png"]) {
    expectRefusal(await service.get(`/products/${slimCase8}${path}`), 410);
  }
});

it("7 code missing_address: not for a combined order, and not for an address of another type", async () => {
  await using service = await startService();
  const wrong = [{ ...combined, dropshipAddress: null }, { dropshipAddress: "Damrak 1" }, { dropshipAddress: [] }];
  for (const changes of wrong) expectRefusal(await sendOrder(service, changes), 400, "unknown_input_error");
});

it("7 code invalid_address_missing_email: not for an e-mail that is there, but is not a string", async () => {
  await using service = await startService();
  for (const email of [7, true, ["ada@shop.example"]]) {
    expectRefusal(await sendOrder(service, { dropshipAddress: { ...address, email } }), 400, "unknown_input_error");
  }
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
