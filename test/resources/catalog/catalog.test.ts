import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";

describe("catalog.products.lookup (specification 4.10)", () => {
  const { context, exchange, checksResponses } = useExchange();

  it("catalog.products.lookup sends the SKU as legacyItemSku and returns the reference", async () => {
    const result = await exchange(
      (partner) => partner.catalog.products.lookup({ legacySku: "CASE-001P2" }),
      { line: "GET /utilities/lookup-product-reference-by-legacy-sku?legacyItemSku=CASE-001P2" },
      { body: { productReference: ref("Product", "1"), later: 1 } },
    );
    expect(result).toBe(ref("Product", "1"));
  });

  it("catalog.products.lookup encodes the reserved characters of a SKU", async () => {
    context.service.respond({ body: { productReference: ref("Product", "1") } });
    await context.partner.catalog.products.lookup({ legacySku: "a b+c&d=e/é#%41" });
    const url = new URL(context.service.requests[0]?.path ?? "", context.service.origin);
    expect([...url.searchParams]).toStrictEqual([["legacyItemSku", "a b+c&d=e/é#%41"]]);
  });

  checksResponses("catalog.products.lookup", {
    call: (partner) => partner.catalog.products.lookup({ legacySku: "CASE-001" }),
    wire: { productReference: ref("Product", "1") },
    refuses: [
      [["productReference"], missing],
      [["productReference"], null],
      [["productReference"], ref("Item", "1")],
    ],
  });
});
