import { describe, expect, it } from "vitest";
import { address, dropship, placeOrder, problem, referenceOf, setUp, unknownReference } from "../support.ts";

const reference = (kind: string) => expect.stringMatching(referenceOf(kind));

describe("creating", () => {
  it("returns the new order's reference, and then the complete order", async () => {
    const bench = setUp();
    const input = await dropship(bench);
    const created = await bench.post("/orders", input);
    expect(created).toMatchObject({ status: 200, body: { order: { reference: reference("Order") } } });
    const [printed] = input.order.orderlines;
    expect((await bench.get(`/orders/${created.body.order.reference}`)).body).toEqual({
      order: {
        reference: created.body.order.reference,
        status: { code: "received" },
        orderlines: [
          {
            ...printed,
            index: 1,
            canceledQuantity: 0,
            shippedQuantity: 0,
            annotations: [],
            legacySku: "SLIM-IP16",
          },
          {
            index: 2,
            productReference: bench.demo.products.screenProtector,
            imageReference: null,
            quantity: 1,
            canceledQuantity: 0,
            shippedQuantity: 0,
            annotations: [{ key: "a", value: "1" }],
            legacySku: "GLASS-IP16",
          },
        ],
        onHold: null,
        dropshipAddressReference: reference("Address"),
        legacyOrderCode: "DEMO-100001",
      },
    });
  });

  it("accepts an address without the fields that only the SDK demands, and replaces one entirely by it", async () => {
    const bench = setUp();
    const { order } = await dropship(bench);
    const partial = { countryCode: "NL", email: "ada@shop.example", housenumber: "2" };
    const created = await bench.post("/orders", { order: { ...order, dropshipAddress: address } });
    expect((await bench.post("/orders", { order: { ...order, dropshipAddress: partial } })).status).toBe(200);
    const path = `/orders/${created.body.order.reference}`;
    expect((await bench.put(`${path}/dropship-address`, { dropshipAddress: partial })).status).toBe(204);
    const { dropshipAddressReference } = (await bench.get(path)).body.order;
    const read = await bench.get(`/addresses/${dropshipAddressReference}`);
    expect(read.body.address).toMatchObject({ ...partial, firstname: "", streetname: "", zipcode: "", city: "" });
  });

  it("accepts a combined order, which has no address", async () => {
    const bench = setUp();
    const order = await placeOrder(bench, { shippingKind: "combined", dropshipAddress: undefined });
    expect((await bench.get(`/orders/${order}`)).body.order.dropshipAddressReference).toBeNull();
  });

  it.each([
    ["missing_address", 400, { dropshipAddress: undefined }],
    ["invalid_address_missing_email", 400, { dropshipAddress: { ...address, email: "" } }],
    ["unknown_input_error", 400, { dropshipAddress: { ...address, email: "ada" } }],
    ["unknown_input_error", 400, { dropshipAddress: { ...address, email: "@shop.example" } }],
    ["unknown_input_error", 400, { dropshipAddress: { ...address, email: "ada@" } }],
    ["invalid_address_denied_country", 400, { dropshipAddress: { ...address, countryCode: "KP" } }],
    ["unknown_input_error", 400, { dropshipAddress: { ...address, countryCode: "US" } }],
    ["unknown_input_error", 400, { dropshipAddress: { ...address, countryCode: "nl" } }],
    ["unknown_input_error", 400, { dropshipAddress: { ...address, email: "", planet: "Mars" } }],
    ["unknown_input_error", 400, { shippingKind: "combined" }],
    ["unknown_input_error", 400, { shippingKind: "drone" }],
    ["unknown_input_error", 400, { dropshipMinimalShippingLevel: "teleport" }],
    ["unknown_input_error", 400, { storeReference: unknownReference("Store") }],
    ["unknown_input_error", 400, { orderlines: [] }],
  ])("responds with %s", async (code, status, over) => {
    const bench = setUp();
    expect(problem(await bench.post("/orders", await dropship(bench, over)))).toEqual({ status, code });
    expect((await bench.get("/orders")).body.orders).toEqual([]);
  });

  it.each(["slimCase8", "slimCase13", "slimCaseFold"] as const)(
    "responds with product_not_orderable to %s",
    async (name) => {
      const bench = setUp();
      const line = { productReference: bench.demo.products[name], imageReference: await bench.image(), quantity: 1 };
      const response = await bench.post("/orders", await dropship(bench, { orderlines: [line] }));
      expect(problem(response)).toEqual({ status: 400, code: "product_not_orderable" });
    },
  );

  it.each(["slimCaseNext", "slimCase15"] as const)(
    "accepts %s, which can be ordered before and after its best time",
    async (name) => {
      const bench = setUp();
      const line = { productReference: bench.demo.products[name], imageReference: await bench.image(), quantity: 1 };
      expect((await bench.post("/orders", await dropship(bench, { orderlines: [line] }))).status).toBe(200);
    },
  );

  it("requires an image for a printed product, and refuses one for others", async () => {
    const bench = setUp();
    const { slimCase, screenProtector } = bench.demo.products;
    const answerTo = async (line: Record<string, unknown>) =>
      problem(await bench.post("/orders", await dropship(bench, { orderlines: [{ quantity: 1, ...line }] })));
    expect(await answerTo({ productReference: slimCase })).toEqual({ status: 400, code: "missing_image_reference" });
    const imageReference = await bench.image();
    expect((await answerTo({ productReference: screenProtector, imageReference })).code).toBe("unknown_input_error");
    expect((await answerTo({ productReference: slimCase, imageReference: unknownReference("Image") })).status).toBe(
      400,
    );
  });

  it("refuses a store whose orders its platform creates", async () => {
    const bench = setUp();
    const response = await bench.post("/orders", await dropship(bench, { storeReference: bench.demo.stores.shopify }));
    expect(problem(response)).toEqual({ status: 403, code: "store_not_writable_via_api" });
  });
});

describe("a repeated customIdentifier", () => {
  const lookup = "/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=";

  it("creates no duplicate by default: it returns the first order (specification 2.4)", async () => {
    const bench = setUp();
    const first = await placeOrder(bench, { customIdentifier: "shop-1" });
    expect(await placeOrder(bench, { customIdentifier: "shop-1" })).toBe(first);
    expect((await bench.get("/orders")).body.orders).toHaveLength(1);
    expect((await bench.get(`${lookup}shop-1`)).body).toEqual({ orderReference: first });
    expect(problem(await bench.get(`${lookup}shop-2`))).toEqual({ status: 404, code: "not_found" });
    expect(await placeOrder(bench)).not.toBe(await placeOrder(bench));
  });

  it("creates another order with that option, and the look-up finds the first", async () => {
    const bench = setUp({ repeatedIdentifier: "create" });
    const first = await placeOrder(bench, { customIdentifier: "shop-1" });
    expect(await placeOrder(bench, { customIdentifier: "shop-1" })).not.toBe(first);
    expect((await bench.get(`${lookup}shop-1`)).body).toEqual({ orderReference: first });
  });

  it("is refused with that option", async () => {
    const bench = setUp({ repeatedIdentifier: "refuse" });
    await placeOrder(bench, { customIdentifier: "shop-1" });
    const again = await bench.post("/orders", await dropship(bench, { customIdentifier: "shop-1" }));
    expect(problem(again)).toEqual({ status: 409, code: "custom_identifier_taken" });
  });
});

describe("canceling", () => {
  const cancel = (index: number, canceledQuantity: number) => ({ orderlines: [{ index, canceledQuantity }] });

  it("sets absolute quantities, and can be repeated", async () => {
    const bench = setUp();
    const order = await placeOrder(bench);
    for (let time = 0; time < 2; time += 1) {
      expect((await bench.post(`/orders/${order}/cancel`, cancel(1, 2))).status).toBe(204);
    }
    const { orderlines } = (await bench.get(`/orders/${order}`)).body.order;
    expect(orderlines.map((line: { canceledQuantity: number }) => line.canceledQuantity)).toEqual([2, 0]);
  });

  it("responds with 409 to quantities below the canceled or above the shippable ones, and cancels nothing", async () => {
    const bench = setUp();
    const order = await placeOrder(bench);
    await bench.post(`/orders/${order}/cancel`, cancel(1, 1));
    const path = `/orders/${order}/cancel`;
    expect(problem(await bench.post(path, cancel(1, 0)))).toEqual({
      status: 409,
      code: "canceled_quantity_below_current",
    });
    bench.emulator.ship(order, { lines: [{ index: 1, quantity: 1 }] });
    const both = { orderlines: [...cancel(2, 1).orderlines, ...cancel(1, 3).orderlines] };
    expect(problem(await bench.post(path, both))).toEqual({ status: 409, code: "canceled_quantity_exceeds_shippable" });
    const { orderlines } = (await bench.get(`/orders/${order}`)).body.order;
    expect(orderlines[1].canceledQuantity).toBe(0);
  });

  it("responds with 409 in production, 403 for a platform's store, 400 for unknown or repeated lines", async () => {
    const bench = setUp();
    const order = await placeOrder(bench);
    const path = `/orders/${order}/cancel`;
    expect(problem(await bench.post(path, cancel(3, 1))).code).toBe("unknown_input_error");
    const twice = { orderlines: [...cancel(1, 1).orderlines, ...cancel(1, 2).orderlines] };
    expect(problem(await bench.post(path, twice)).code).toBe("unknown_input_error");
    bench.emulator.startProduction(order);
    expect(problem(await bench.post(path, cancel(1, 1)))).toEqual({ status: 409, code: "already_in_production" });
    expect((await bench.post(path, cancel(1, 0))).status).toBe(204);
    bench.emulator.setStoreIntegration(bench.demo.stores.api, "shopify");
    expect(problem(await bench.post(path, cancel(1, 1)))).toEqual({ status: 403, code: "store_not_writable_via_api" });
  });

  it("succeeds in production while it changes nothing, and changes nothing otherwise", async () => {
    const bench = setUp();
    const order = await placeOrder(bench);
    const path = `/orders/${order}/cancel`;
    await bench.post(path, cancel(1, 2));
    bench.emulator.startProduction(order);
    expect((await bench.post(path, cancel(1, 2))).status).toBe(204);
    const mixed = { orderlines: [...cancel(1, 2).orderlines, ...cancel(2, 1).orderlines] };
    expect(problem(await bench.post(path, mixed))).toEqual({ status: 409, code: "already_in_production" });
    const { orderlines } = (await bench.get(`/orders/${order}`)).body.order;
    expect(orderlines.map((line: { canceledQuantity: number }) => line.canceledQuantity)).toEqual([2, 0]);
  });

  it("completes an order without remaining quantities", async () => {
    const bench = setUp();
    const order = await placeOrder(bench);
    await bench.post(`/orders/${order}/cancel`, {
      orderlines: [...cancel(1, 3).orderlines, ...cancel(2, 1).orderlines],
    });
    expect((await bench.get(`/orders/${order}`)).body.order.status).toEqual({ code: "canceled" });
    expect(() => bench.emulator.ship(order)).toThrow("has nothing left to ship");
  });
});

describe("replacing the dropship address", () => {
  const put = (bench: ReturnType<typeof setUp>, order: string, over: Record<string, string> = {}) =>
    bench.put(`/orders/${order}/dropship-address`, { dropshipAddress: { ...address, ...over } });

  it("validates the address as the creation does", async () => {
    const bench = setUp();
    const order = await placeOrder(bench);
    expect(problem(await put(bench, order, { email: "" })).code).toBe("invalid_address_missing_email");
    expect(problem(await put(bench, order, { email: "ada" })).code).toBe("unknown_input_error");
    expect(problem(await put(bench, order, { countryCode: "RU" })).code).toBe("invalid_address_denied_country");
    expect(problem(await put(bench, order, { countryCode: "IT" })).code).toBe("unknown_input_error");
    expect(problem(await bench.put(`/orders/${order}/dropship-address`, {})).code).toBe("missing_address");
    expect((await put(bench, order)).status).toBe(204);
  });

  it("responds with 409 for combined and for completed orders", async () => {
    const bench = setUp();
    const combined = await placeOrder(bench, { shippingKind: "combined", dropshipAddress: undefined });
    expect(problem(await put(bench, combined))).toEqual({ status: 409, code: "order_not_dropship" });
    const order = await placeOrder(bench);
    bench.emulator.ship(order);
    expect(problem(await put(bench, order))).toEqual({ status: 409, code: "order_completed" });
  });
});

it("shows a hold and its reason until it ends", async () => {
  const bench = setUp();
  const order = await placeOrder(bench);
  bench.emulator.hold(order, "The image is too small");
  expect((await bench.get(`/orders/${order}`)).body.order.onHold).toEqual({ reason: "The image is too small" });
  expect(() => bench.emulator.ship(order)).toThrow("on hold");
  bench.emulator.release(order);
  expect((await bench.get(`/orders/${order}`)).body.order.onHold).toBeNull();
});
