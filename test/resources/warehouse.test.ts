import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../support/exchange.ts";
import { ref } from "../support/references.ts";

const item = {
  reference: ref("Item", "1"),
  sku: "CASE-001",
  logicalQuantity: 90,
  physicalQuantity: 100,
  products: [{ reference: ref("Product", "1") }],
  later: "kept",
};

describe("warehouse (specification 2.10, 4.3)", () => {
  const { exchange, checksResponses } = useExchange();

  it("warehouse.items.list sends GET /items and returns the items", async () => {
    const items = [item, { ...item, reference: ref("Item", "2"), products: [] }];
    const result = await exchange(
      (partner) => partner.warehouse.items.list().toArray(),
      { line: "GET /items" },
      { body: { items, nextCursor: null } },
    );
    expect(result).toStrictEqual(items);
  });

  checksResponses("warehouse.items.list", {
    call: (partner) => partner.warehouse.items.list().toArray(),
    wire: { items: [item], nextCursor: null },
    refuses: [
      [["items"], missing],
      [["items", 0, "reference"], missing],
      [["items", 0, "reference"], ref("Product", "1")],
      [["items", 0, "sku"], missing],
      [["items", 0, "logicalQuantity"], missing],
      [["items", 0, "physicalQuantity"], "100"],
      [["items", 0, "products"], missing],
      [["nextCursor"], {}],
    ],
    // More items can be reserved than exist: nothing says that a logical quantity has a lower bound.
    accepts: [[["items", 0, "logicalQuantity"], -3]],
  });
});
