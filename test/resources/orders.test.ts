import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../support/exchange.ts";
import { ref } from "../support/references.ts";

const order = {
  reference: ref("Order", "1"),
  status: { code: "a-code-that-is-not-shown", later: 1 },
  orderlines: [
    {
      index: 1,
      productReference: ref("Product", "1"),
      imageReference: ref("Image", "1"),
      quantity: 3,
      canceledQuantity: 1,
      shippedQuantity: 2,
      annotations: [{ key: "gift", value: "" }],
      legacySku: "CASE-001",
      later: 2,
    },
    {
      index: 2,
      productReference: ref("Product", "2"),
      imageReference: null,
      quantity: 1,
      canceledQuantity: 0,
      shippedQuantity: 0,
      annotations: [],
      legacySku: null,
    },
  ],
  onHold: { reason: "The image has a copyright claim.", later: 3 },
  dropshipAddressReference: ref("Address", "1"),
  legacyOrderCode: "nl1-10045",
  later: 4,
};

describe("orders: reading (specification 2.4, 2.5, 4.7, 4.10)", () => {
  const { context, exchange, checksResponses } = useExchange();
  const reference = ref("Order", "1");

  it("orders.get sends GET /orders/{orderReference} and unwraps the order", async () => {
    const result = await exchange(
      (partner) => partner.orders.get(reference),
      { line: `GET /orders/${reference}` },
      { body: { order } },
    );
    expect(result).toStrictEqual(order);
  });

  it("orders.get returns a combined order, which has no address reference", async () => {
    const { dropshipAddressReference: _, ...combined } = { ...order, onHold: null };
    const result = await exchange(
      (partner) => partner.orders.get(reference),
      { line: `GET /orders/${reference}` },
      { body: { order: combined } },
    );
    expect(result).toStrictEqual(combined);
  });

  it("orders.list sends GET /orders and returns the items", async () => {
    const orders = [{ reference: ref("Order", "1"), later: { kept: 1 } }, { reference: ref("Order", "2") }];
    const result = await exchange(
      (partner) => partner.orders.list().toArray(),
      { line: "GET /orders" },
      { body: { orders, nextCursor: null } },
    );
    expect(result).toStrictEqual(orders);
  });

  it("orders.lookup sends the custom identifier under the assumed name and returns the reference", async () => {
    const result = await exchange(
      (partner) => partner.orders.lookup({ customIdentifier: "shop-1001" }),
      { line: "GET /utilities/lookup-order-reference-by-custom-identifier?customIdentifier=shop-1001" },
      { body: { orderReference: reference, later: 1 } },
    );
    expect(result).toBe(reference);
  });

  it("orders.lookup encodes the reserved characters of an identifier", async () => {
    context.service.respond({ body: { orderReference: reference } });
    await context.partner.orders.lookup({ customIdentifier: "#1001 & 50%+é/ü?" });
    const url = new URL(context.service.requests[0]?.path ?? "", context.service.origin);
    expect([...url.searchParams.values()]).toStrictEqual(["#1001 & 50%+é/ü?"]);
  });

  checksResponses("orders.get", {
    call: (partner) => partner.orders.get(reference),
    wire: { order },
    refuses: [
      [["order"], missing],
      [["order", "reference"], missing],
      [["order", "reference"], ref("Address", "1")],
      [["order", "status"], missing],
      [["order", "status"], "open"],
      [["order", "orderlines"], missing],
      [["order", "orderlines", 0, "index"], 0],
      ...["index", "quantity", "canceledQuantity", "shippedQuantity", "annotations", "productReference"].map(
        (field) => [["order", "orderlines", 1, field], missing] as const,
      ),
      [["order", "orderlines", 0, "quantity"], 1.5],
      [["order", "orderlines", 0, "canceledQuantity"], "1"],
      [["order", "orderlines", 0, "imageReference"], ref("Product", "1")],
      [["order", "orderlines", 0, "annotations"], null],
      [["order", "orderlines", 0, "annotations", 0, "key"], missing],
      [["order", "orderlines", 0, "annotations", 0, "value"], 5],
      [["order", "onHold"], missing],
      [["order", "onHold"], true],
      [["order", "onHold", "reason"], missing],
      [["order", "dropshipAddressReference"], reference],
      [["order", "legacyOrderCode"], missing],
    ],
    accepts: [
      [["order", "onHold"], null],
      [["order", "orderlines", 0, "annotations"], []],
      [["order", "status", "code"], "another-code"],
    ],
  });

  checksResponses("orders.list", {
    call: (partner) => partner.orders.list().toArray(),
    wire: { orders: [{ reference }], nextCursor: null },
    refuses: [
      [["orders"], missing],
      [["orders", 0, "reference"], missing],
      [["nextCursor"], 1],
    ],
  });

  checksResponses("orders.lookup", {
    call: (partner) => partner.orders.lookup({ customIdentifier: "shop-1001" }),
    wire: { orderReference: reference },
    refuses: [
      [["orderReference"], missing],
      [["orderReference"], ref("Product", "1")],
    ],
  });
});
