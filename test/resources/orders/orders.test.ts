import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";

const order = {
  reference: ref("Order", "1"),
  status: { code: "a-code-that-is-not-shown", later: 1 },
  orderlines: [],
  onHold: { reason: "The image has a copyright claim.", later: 3 },
  legacyOrderCode: "nl1-10045",
  later: 4,
};

describe("orders: reading (specification 2.4, 2.5, 4.7, 4.10)", () => {
  const { context, exchange, checksResponses } = useExchange();
  const reference = ref("Order", "1");

  it("orders.get returns the code of the status and the reason of a hold", async () => {
    const result = await exchange(
      (partner) => partner.orders.get(reference),
      { line: `GET /orders/${reference}` },
      { body: { order } },
    );
    expect(result).toStrictEqual(order);
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
      [["order", "onHold"], true],
      [["order", "onHold", "reason"], missing],
    ],
  });

  checksResponses("orders.lookup", {
    call: (partner) => partner.orders.lookup({ customIdentifier: "shop-1001" }),
    wire: { orderReference: reference },
    refuses: [[["orderReference"], ref("Product", "1")]],
  });
});
