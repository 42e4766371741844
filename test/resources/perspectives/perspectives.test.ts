import { describe, expect, it } from "vitest";
import { useExchange } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";

describe("perspectives (specification 2.9, 4.6)", () => {
  const { exchange } = useExchange();

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
});
