import type { InvalidResponseEvent, PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { useExchange } from "../../support/exchange.ts";
import { partnerWith } from "../../support/partner.ts";
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

  const reference = ref("Perspective", "1");
  it.each([
    [
      "perspectives.list",
      (partner: PodPartner) => partner.perspectives.list(),
      (one: object) => ({ perspectives: [one] }),
    ],
    [
      "perspectives.get",
      (partner: PodPartner) => partner.perspectives.get(reference),
      (perspective: object) => ({ perspective }),
    ],
  ] as const)("%s reports `scenes` and `products` that are no lists, and returns them", async (_, call, body) => {
    const reported: InvalidResponseEvent[] = [];
    const hooks = { onInvalidResponse: (event: InvalidResponseEvent) => reported.push(event) };
    const output = { widthPx: 1, heightPx: 1, format: "png" };
    const perspective = { reference, name: "Front", output, scenes: "all", products: {} };
    const partner = partnerWith({ hooks, fetch: async () => Response.json(body(perspective)) });
    expect([await call(partner)].flat()).toStrictEqual([perspective]);
    expect(reported.flatMap(({ issues }) => issues.map(({ path }) => path.at(-1)))).toEqual(["scenes", "products"]);
  });
});
