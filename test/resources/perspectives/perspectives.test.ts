import { describe, expect, it } from "vitest";
import { useExchange } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";

const ofScene = {
  reference: ref("Perspective", "1"),
  name: "Front",
  output: { widthPx: 2000, heightPx: 1500, format: "png", later: 1 },
  scenes: [{ reference: ref("Scene", "1"), later: 2 }],
  products: null,
  later: 3,
};
const ofProduct = { ...ofScene, scenes: null, products: [{ reference: ref("Product", "1") }] };

describe("perspectives (specification 2.9, 4.6)", () => {
  const { exchange, checksResponses } = useExchange();

  it("perspectives.list returns what the specification shows only of one perspective", async () => {
    const perspectives = [ofScene, ofProduct];
    const result = await exchange(
      (partner) => partner.perspectives.list(),
      { line: "GET /perspectives" },
      { body: { perspectives } },
    );
    expect(result).toStrictEqual(perspectives);
  });

  it.each([
    ["sceneReference", { sceneReference: ref("Scene", "1") }, `?sceneReference=${ref("Scene", "1")}`],
    ["productReference", { productReference: ref("Product", "1") }, `?productReference=${ref("Product", "1")}`],
    [
      "both",
      { sceneReference: ref("Scene", "1"), productReference: ref("Product", "1") },
      `?sceneReference=${ref("Scene", "1")}&productReference=${ref("Product", "1")}`,
    ],
  ])("perspectives.list sends the filter (%s) as a query", async (_, filter, query) => {
    const result = await exchange(
      (partner) => partner.perspectives.list(filter),
      { line: `GET /perspectives${query}` },
      { body: { perspectives: [] } },
    );
    expect(result).toStrictEqual([]);
  });

  it("perspectives.get returns a perspective of products", async () => {
    const result = await exchange(
      (partner) => partner.perspectives.get(ref("Perspective", "1")),
      { line: `GET /perspectives/${ref("Perspective", "1")}` },
      { body: { perspective: ofProduct } },
    );
    expect(result).toStrictEqual(ofProduct);
  });

  checksResponses("perspectives.list", {
    call: (partner) => partner.perspectives.list(),
    wire: { perspectives: [ofProduct] },
    refuses: [[["perspectives", 0, "products", 0, "reference"], ref("Scene", "1")]],
  });
});
