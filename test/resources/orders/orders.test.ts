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
  const { exchange, checksResponses } = useExchange();
  const reference = ref("Order", "1");

  it("orders.get returns the code of the status and the reason of a hold", async () => {
    const result = await exchange(
      (partner) => partner.orders.get(reference),
      { line: `GET /orders/${reference}` },
      { body: { order } },
    );
    expect(result).toStrictEqual(order);
  });

  checksResponses("orders.get", {
    call: (partner) => partner.orders.get(reference),
    wire: { order },
    refuses: [
      [["order", "onHold"], true],
      [["order", "onHold", "reason"], missing],
    ],
  });
});
