import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../support/exchange.ts";
import { ref } from "../support/references.ts";

const product = {
  reference: ref("Product", "1"),
  name: "Tough case",
  status: "launched",
  availableQuantity: 120,
  layersModified: "2026-05-01T10:00:00.000Z",
  printModified: "2026-04-01T10:00:00.000Z",
  legacyItemSKU: "CASE-001P2",
  later: { added: true },
};

const detail = {
  ...product,
  layers: { modified: "2026-05-01T10:00:00.000Z", front: "https://layers.example/front.png" },
  print: { modified: "2026-04-01T10:00:00.000Z", widthMm: 80 },
  weightGrams: 31.5,
  media: [{ filename: "front.png", kind: "render" }, "not shown"],
};

describe("catalog.products (specification 2.6, 4.3)", () => {
  const { context, exchange, checksResponses } = useExchange();

  it("catalog.products.list sends GET /products and returns the items", async () => {
    const products = [product, { ...product, reference: ref("Product", "2") }];
    const result = await exchange(
      (partner) => partner.catalog.products.list().toArray(),
      { line: "GET /products" },
      { body: { products, nextCursor: null } },
    );
    expect(result).toStrictEqual(products);
  });

  it("catalog.products.get sends GET /products/{productReference} and unwraps the product", async () => {
    const result = await exchange(
      (partner) => partner.catalog.products.get(ref("Product", "1")),
      { line: `GET /products/${ref("Product", "1")}` },
      { body: { product: detail } },
    );
    expect(result).toStrictEqual(detail);
  });

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

  checksResponses("catalog.products.list", {
    call: (partner) => partner.catalog.products.list().toArray(),
    wire: { products: [product], nextCursor: null },
    refuses: [
      ...["reference", "name", "status", "legacyItemSKU"].map((field) => [["products", 0, field], missing] as const),
      [["products", 0, "reference"], ref("Productgroup", "1")],
      [["products", 0, "availableQuantity"], "120"],
      [["products", 0, "layersModified"], 1_767_225_600],
      [["products", 0, "printModified"], "last week"],
      [["products", 0, "status"], null],
      [["products"], missing],
      [["nextCursor"], 5],
    ],
    accepts: [
      [["products", 0, "status"], "a-stage-of-tomorrow"],
      [["products", 0, "availableQuantity"], 0],
      // An announced product: its print specifications may be incomplete (3.3).
      ...["availableQuantity", "layersModified", "printModified"].flatMap((field) => [
        [["products", 0, field], missing] as const,
        [["products", 0, field], null] as const,
      ]),
      [["products"], []],
    ],
  });

  checksResponses("catalog.products.get", {
    call: (partner) => partner.catalog.products.get(ref("Product", "1")),
    wire: { product: detail },
    refuses: [
      [["product"], missing],
      [["product", "reference"], missing],
      [["product", "legacyItemSKU"], missing],
      [["product", "layers"], "none"],
      [["product", "layers", "modified"], 5],
      [["product", "weightGrams"], missing],
      [["product", "weightGrams"], "31"],
      [["product", "media"], missing],
      [["product", "media"], { front: "x" }],
    ],
    accepts: [
      ...["layers", "print"].flatMap((field) => [
        [["product", field], missing] as const,
        [["product", field], null] as const,
        [["product", field, "modified"], missing] as const,
        [["product", field, "modified"], null] as const,
      ]),
      [["product", "weightGrams"], null],
      [["product", "media"], []],
      [["product", "status"], "archived"],
    ],
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

describe("catalog.productgroups and catalog.packagings (specification 4.3)", () => {
  const { exchange, checksResponses } = useExchange();

  it("catalog.productgroups.list sends GET /productgroups and returns the list", async () => {
    const productgroups = [{ reference: ref("Productgroup", "1"), name: "Tough cases", private: false }];
    const result = await exchange(
      (partner) => partner.catalog.productgroups.list(),
      { line: "GET /productgroups" },
      { body: { productgroups } },
    );
    expect(result).toStrictEqual(productgroups);
  });

  it("catalog.packagings.list sends GET /packagings and returns the list", async () => {
    const packagings = [{ reference: ref("Packaging", "1"), name: "Giftbox" }];
    const result = await exchange(
      (partner) => partner.catalog.packagings.list(),
      { line: "GET /packagings" },
      { body: { packagings } },
    );
    expect(result).toStrictEqual(packagings);
  });

  checksResponses("catalog.productgroups.list", {
    call: (partner) => partner.catalog.productgroups.list(),
    wire: { productgroups: [{ reference: ref("Productgroup", "1") }] },
    refuses: [
      [["productgroups", 0, "reference"], missing],
      [["productgroups", 0, "reference"], ref("Product", "1")],
    ],
  });

  checksResponses("catalog.packagings.list", {
    call: (partner) => partner.catalog.packagings.list(),
    wire: { packagings: [{ reference: ref("Packaging", "1") }] },
    refuses: [
      [["packagings", 0, "reference"], missing],
      [["packagings", 0], null],
    ],
  });
});
