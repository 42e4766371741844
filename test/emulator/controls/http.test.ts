import { request } from "node:http";
import { type RunningEmulator, startEmulator } from "pod-partner/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { address } from "../support.ts";

let emulator: RunningEmulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.close());

const root = () => new URL("/_emulator", emulator.baseUrl).href;

async function control(name: string, input: unknown) {
  const response = await fetch(`${root()}/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(input),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function call(method: string, path: string, body?: unknown) {
  const response = await fetch(emulator.baseUrl + path, {
    method,
    headers: { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as { order: { reference: string; orderlines: Record<string, unknown>[] } };
}

const placeOrder = async () => {
  const { stores, products } = emulator.demo;
  const orderlines = [{ productReference: products.screenProtector, quantity: 3 }];
  const order = { storeReference: stores.api, shippingKind: "dropship", dropshipAddress: address, orderlines };
  return (await call("POST", "/orders", { order })).order.reference;
};

/** Sends a GET with its own `Host`, which `fetch` does not allow. */
const statusOf = (headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(root(), { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });

describe("the controls over HTTP", () => {
  it.each([
    ["clock.advance", { span: "3 days" }, 'span: expected milliseconds, or an object such as {"days":3}'],
    ["clock.set", {}, "time: expected an ISO 8601 string or milliseconds since 1970"],
    ["ship", { order: "Order_1" }, "orders: expected the reference of an order, or a list of them"],
    ["seed", { orders: "2" }, "orders: expected a number of orders, or a list of orders"],
    ["automate", { production: "1 h" }, 'production: expected milliseconds, or an object such as {"days":3}'],
  ])("%s says which forms a field can have", async (name, input, message) => {
    const { status, body } = await control(name, input);
    expect([status, body.code]).toEqual([400, "invalid_input"]);
    expect(body.message).toContain(message);
  });

  it("list which fields each kind of fault has, as JSON schema", async () => {
    const { controls } = (await (await fetch(root())).json()) as { controls: { name: string; input: unknown }[] };
    const add = controls.find(({ name }) => name === "faults.add");
    expect(add?.input).toMatchObject({ properties: { fault: { oneOf: expect.any(Array) } }, required: ["fault"] });
    expect(JSON.parse(JSON.stringify(add?.input)).properties.fault.oneOf).toContainEqual({
      type: "object",
      properties: {
        fault: { type: "string", const: "drop" },
        on: { type: "string" },
        nth: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
        when: { type: "string", enum: ["before", "after"] },
      },
      required: ["fault"],
      additionalProperties: false,
    });
  });

  it("ship an order in part, and return the reference of the shipment", async () => {
    const order = await placeOrder();
    const { status, body } = await control("ship", { orders: order, lines: [{ index: 1, quantity: 2 }] });
    expect(status).toBe(200);
    expect(body.result).toMatch(/^Shipment_/);
    expect((await call("GET", `/orders/${order}`)).order.orderlines[0]).toMatchObject({ shippedQuantity: 2 });
  });

  it("refuse what the state does not allow, and say why", async () => {
    const order = await placeOrder();
    expect((await control("hold", { order, reason: "The print file is broken" })).body).toEqual({ result: null });
    expect(await control("ship", { orders: order })).toEqual({
      status: 400,
      body: { code: "refused", message: `${order} is on hold: The print file is broken` },
    });
  });

  it.each([
    [
      "an unknown field",
      "hold",
      { order: `Order_${"0".repeat(26)}`, reason: "x", colour: "red" },
      /colour: is not a known field/,
    ],
    ["a missing field", "release", {}, /order: /],
    ["an input that is not an object", "release", [], /expected/],
    ["an order that does not exist", "release", { order: `Order_${"0".repeat(26)}` }, /no order Order_0/],
    [
      "a fault for an unknown endpoint",
      "faults.add",
      { fault: { on: "orders.fly", fault: "drop" } },
      /no endpoint orders.fly/,
    ],
    ["a step back in time", "clock.set", { time: "2020-01-01" }, /cannot move backwards/],
    ["a checkpoint that does not exist", "rewind", { name: "none" }, /no checkpoint named none/],
  ])("refuse %s", async (_name, name, input, message) => {
    const { status, body } = await control(name, input);
    expect(status).toBe(400);
    expect(body.message).toMatch(message);
  });

  it("refuse an unknown field, each of them", async () => {
    const { controls } = (await (await fetch(root())).json()) as { controls: { name: string }[] };
    expect(controls.length).toBeGreaterThan(30);
    for (const { name } of controls) {
      const { status, body } = await control(name, { unknownField: true });
      expect([name, status, body.code]).toEqual([name, 400, "invalid_input"]);
    }
  });

  it("respond with 404 to an unknown control, and with 405 to another method", async () => {
    expect((await control("fly", {})).status).toBe(404);
    expect((await fetch(`${root()}/ship`)).status).toBe(405);
  });

  it("add faults that apply to a request, and remove one or all of them", async () => {
    const add = async (status: number) => {
      const { body } = await control("faults.add", { fault: { on: "orders.list", fault: "status", status } });
      return body.result as { id: number };
    };
    const list = () => fetch(`${emulator.baseUrl}/orders`, { headers: { "X-Service-Secret-Key": emulator.secretKey } });
    const first = await add(503);
    expect((await list()).status).toBe(503);
    await control("faults.remove", first);
    expect((await list()).status).toBe(200);
    await add(503);
    await control("faults.clear", {});
    expect((await list()).status).toBe(200);
  });

  it("are listed with the schema of their input", async () => {
    const { controls } = (await (await fetch(root())).json()) as { controls: Record<string, unknown>[] };
    expect(controls.find(({ name }) => name === "hold")).toMatchObject({
      method: "POST",
      path: "/_emulator/hold",
      on: "order",
      required: ["order", "reason"],
      input: { type: "object", required: ["order", "reason"], additionalProperties: false },
    });
  });

  it("refuse requests of other sites", async () => {
    const { host } = new URL(emulator.baseUrl);
    expect(await statusOf({ host })).toBe(200);
    expect(await statusOf({ host, origin: `http://${host}` })).toBe(200);
    expect(await statusOf({ host, origin: "https://shop.example" })).toBe(403);
    expect(await statusOf({ host, origin: "null" })).toBe(403);
    expect(await statusOf({ host, origin: `chrome-extension://${host}` })).toBe(403);
    expect(await statusOf({ host, origin: `http://other@${host}` })).toBe(403);
    expect(await statusOf({ host: "shop.example" })).toBe(403);
    expect(await statusOf({ host, "sec-fetch-site": "cross-site" })).toBe(403);
  });
});
