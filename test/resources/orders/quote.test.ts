import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../../support/exchange.ts";
import { sentAddress } from "../../support/orders.ts";
import { ref } from "../../support/references.ts";

const lines = [{ productReference: ref("Product", "1"), quantity: 2 }];
const { email: _, ...destination } = sentAddress;
const quote = {
  storeReference: ref("Store", "1"),
  shippingKind: "dropship",
  dropshipAddress: destination,
  dropshipMinimalShippingLevel: "basic",
  orderlines: lines,
} as const;
const shippingOptions = [
  { level: "basic", price: 395, later: 1 },
  { level: "tracked", price: 695 },
  { level: "express", price: 1495 },
];

describe("orders.quote (specification 4.7)", () => {
  const { exchange, checksResponses } = useExchange();

  it("orders.quote sends POST /quote without an e-mail address, and returns the options", async () => {
    const result = await exchange(
      (partner) => partner.orders.quote(quote),
      {
        line: "POST /quote",
        json: {
          quote: {
            storeReference: ref("Store", "1"),
            shippingKind: "dropship",
            dropshipAddress: { ...sentAddress, email: "" },
            dropshipMinimalShippingLevel: "basic",
            orderlines: [{ productReference: ref("Product", "1"), quantity: 2 }],
          },
        },
      },
      { body: { shippingOptions } },
    );
    expect(result).toStrictEqual(shippingOptions);
  });

  it("orders.quote of a combined order sends no address and returns the empty list", async () => {
    const result = await exchange(
      (partner) =>
        partner.orders.quote({ storeReference: ref("Store", "1"), shippingKind: "combined", orderlines: lines }),
      {
        line: "POST /quote",
        json: {
          quote: {
            storeReference: ref("Store", "1"),
            shippingKind: "combined",
            orderlines: [{ productReference: ref("Product", "1"), quantity: 2 }],
          },
        },
      },
      { body: { shippingOptions: [] } },
    );
    expect(result).toStrictEqual([]);
  });

  checksResponses("orders.quote", {
    call: (partner) => partner.orders.quote(quote),
    wire: { shippingOptions },
    refuses: [
      [["shippingOptions"], missing],
      [["shippingOptions"], null],
      // ShippingLevel is a strict enum (9.6).
      [["shippingOptions", 1, "level"], "drone"],
      [["shippingOptions", 1, "level"], missing],
      [["shippingOptions", 0, "price"], missing],
      [["shippingOptions", 0, "price"], "3.95"],
      [["shippingOptions", 0, "price"], 3.95],
    ],
    accepts: [[["shippingOptions", 0, "price"], 0]],
  });
});
