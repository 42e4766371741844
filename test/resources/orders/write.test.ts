import { NotFoundError, RequestValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { expectSent, missing, rejection, useExchange } from "../../support/exchange.ts";
import { combinedOrder, dropshipOrder, sentAddress } from "../../support/orders.ts";
import { ref } from "../../support/references.ts";

const reference = ref("Order", "1");
const created = { status: 201, body: { order: { reference } } };
const unknown = { status: 404, body: { code: "order_not_found", message: "No such order." } };
const lookup = "GET /utilities/lookup-order-reference-by-custom-identifier?customIdentifier=shop-1001";

const dropshipBody = {
  order: {
    storeReference: ref("Store", "1"),
    customIdentifier: "shop-1001",
    shippingKind: "dropship",
    dropshipAddress: sentAddress,
    dropshipMinimalShippingLevel: "tracked",
    orderlines: [
      {
        productReference: ref("Product", "1"),
        imageReference: ref("Image", "1"),
        quantity: 2,
        annotations: [{ key: "line", value: "7" }],
      },
      { productReference: ref("Product", "2"), quantity: 1 },
    ],
  },
};

describe("orders: writing (specification 2.4, 2.5, 4.7)", () => {
  const { context, exchange, checksResponses } = useExchange();
  const orders = () => context.partner.orders;

  it.each([200, 201])(
    "orders.create sends POST /orders with the complete dropship order and accepts %i as success",
    async (status) => {
      const result = await exchange(
        (partner) => partner.orders.create(dropshipOrder),
        { line: "POST /orders", json: dropshipBody },
        { ...created, status },
      );
      expect(result).toStrictEqual({ reference, customIdentifier: "shop-1001", existed: false, recovered: false });
    },
  );

  it("orders.create sends a combined order without address or shipping level", async () => {
    await exchange(
      (partner) => partner.orders.create(combinedOrder),
      {
        line: "POST /orders",
        json: {
          order: {
            storeReference: ref("Store", "1"),
            customIdentifier: "shop-1002",
            shippingKind: "combined",
            orderlines: [{ productReference: ref("Product", "1"), imageReference: ref("Image", "1"), quantity: 1 }],
          },
        },
      },
      created,
    );
  });

  it("orders.create generates an identifier for each order without one, and returns it", async () => {
    const { customIdentifier: _, ...anonymous } = combinedOrder;
    context.service.respondAlways(created);
    const results = [await orders().create(anonymous), await orders().create(anonymous)];
    const sent = context.service.requests.map(({ body }) => JSON.parse(body.toString()).order.customIdentifier);
    expect(results.map(({ customIdentifier }) => customIdentifier)).toStrictEqual(sent);
    expect(sent[0]).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(sent[1]).not.toBe(sent[0]);
  });

  it("orders.create does not change the caller's order object", async () => {
    const before = structuredClone(dropshipOrder);
    context.service.respond(created);
    await orders().create(dropshipOrder);
    expect(dropshipOrder).toStrictEqual(before);
  });

  it("orders.create sends the unknown fields that the option `body` adds", async () => {
    const extra = { order: { brandReference: ref("Brand", "1") } };
    await exchange(
      (partner) => partner.orders.create(dropshipOrder, { body: extra }),
      { line: "POST /orders", json: { order: { ...dropshipBody.order, ...extra.order } } },
      created,
    );
  });

  it("orders.ensure looks up the identifier and creates an order that does not exist", async () => {
    context.service.respond(unknown, created);
    const result = await orders().ensure(dropshipOrder);
    expect(result).toStrictEqual({ reference, customIdentifier: "shop-1001", existed: false, recovered: false });
    expect(context.service.requests).toHaveLength(2);
    expectSent(context.service.requests[0], { line: lookup });
    expectSent(context.service.requests[1], { line: "POST /orders", json: dropshipBody });
  });

  it("orders.ensure creates nothing when the order exists", async () => {
    const result = await exchange(
      (partner) => partner.orders.ensure(dropshipOrder, { compare: false }),
      { line: lookup },
      { body: { orderReference: reference } },
    );
    expect(result).toStrictEqual({ reference, customIdentifier: "shop-1001", existed: true, recovered: false });
  });

  it.each<[string, object, readonly unknown[]]>([
    ["the identifier", { order: { customIdentifier: "another" } }, ["order", "customIdentifier"]],
    ["a quantity", { order: { orderlines: [{ quantity: 99 }] } }, ["order", "orderlines", 0, "quantity"]],
    ["lines", { order: { orderlines: [{}, {}, {}, {}] } }, ["order", "orderlines"]],
    ["the order", { order: [] }, ["order"]],
    ["a field by `toJSON`", { toJSON: () => ({ order: { shippingKind: "combined" } }) }, ["order", "shippingKind"]],
  ])("sends no order whose option `body` would replace %s", async (_, body, path) => {
    for (const method of ["create", "ensure"] as const) {
      const error = await rejection(orders()[method](dropshipOrder, { body: body as Record<string, unknown> }));
      expect(error).toBeInstanceOf(RequestValidationError);
      expect(error).toMatchObject({ issues: [{ path: ["body", ...path] }], endpoint: "POST /orders" });
    }
    expect(context.service.requests).toHaveLength(0);
  });

  it("orders.create adds unknown fields to a line by its index, and equal fields change nothing", async () => {
    const [line] = dropshipBody.order.orderlines;
    const extra = { order: { shippingKind: "dropship", orderlines: [{ giftBox: true }] } };
    await exchange(
      (partner) => partner.orders.create(dropshipOrder, { body: extra }),
      {
        line: "POST /orders",
        json: {
          order: {
            ...dropshipBody.order,
            orderlines: [{ ...line, giftBox: true }, ...dropshipBody.order.orderlines.slice(1)],
          },
        },
      },
      created,
    );
  });

  it.each([401, 403, 409, 500])("orders.ensure creates nothing when the look-up ends with %i", async (status) => {
    context.service.respond({ status, body: { code: "some_code", message: "No." } });
    await expect(rejection(orders().ensure(dropshipOrder))).resolves.toMatchObject({ status });
    expect(context.service.requests).toHaveLength(1);
  });

  it("orders.ensure creates nothing when a 404 has no error object and is not the service's own", async () => {
    context.service.respond(
      { status: 404, headers: { "content-type": "text/html" }, body: "<h1>Not Found</h1>" },
      created,
    );
    await rejection(orders().ensure(dropshipOrder));
    expect(context.service.requests.map(({ method }) => method)).toStrictEqual(["GET"]);
  });

  it("orders.cancel sends POST /orders/{orderReference}/cancel with absolute quantities and returns nothing", async () => {
    const result = await exchange(
      (partner) =>
        partner.orders.cancel(reference, [
          { index: 1, canceledQuantity: 2 },
          { index: 3, canceledQuantity: 0 },
        ]),
      {
        line: `POST /orders/${reference}/cancel`,
        json: {
          orderlines: [
            { index: 1, canceledQuantity: 2 },
            { index: 3, canceledQuantity: 0 },
          ],
        },
      },
      { status: 204 },
    );
    expect(result).toBeUndefined();
  });

  it("orders.replaceDropshipAddress sends PUT /orders/{orderReference}/dropship-address with the complete address", async () => {
    const result = await exchange(
      (partner) => partner.orders.replaceDropshipAddress(reference, sentAddress),
      { line: `PUT /orders/${reference}/dropship-address`, json: { dropshipAddress: sentAddress } },
      { status: 204 },
    );
    expect(result).toBeUndefined();
  });

  it("orders.replaceDropshipAddress throws a NotFoundError for an order that does not exist", async () => {
    context.service.respond(unknown);
    const error = await rejection(orders().replaceDropshipAddress(reference, sentAddress));
    expect(NotFoundError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ endpoint: "PUT /orders/{orderReference}/dropship-address" });
  });

  checksResponses("orders.create", {
    call: (partner) => partner.orders.create(dropshipOrder),
    wire: { order: { reference } },
    refuses: [
      [["order"], missing],
      [["order", "reference"], missing],
      [["order", "reference"], ref("Store", "1")],
    ],
  });
});
