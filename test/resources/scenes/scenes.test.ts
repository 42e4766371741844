import type { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection, useExchange } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";

describe("scenes (specification 2.9, 4.6)", () => {
  const { context, exchange } = useExchange();

  it("scenes.list sends productgroupReference as a query", async () => {
    const result = await exchange(
      (partner) => partner.scenes.list({ productgroupReference: ref("Productgroup", "1") }),
      { line: `GET /scenes?productgroupReference=${ref("Productgroup", "1")}` },
      { body: { scenes: [] } },
    );
    expect(result).toStrictEqual([]);
  });

  it("an undefined field of the option `query` does not replace the filter", async () => {
    const productgroupReference = ref("Productgroup", "1");
    await exchange(
      (partner) => partner.scenes.list({ productgroupReference, query: { productgroupReference: undefined } }),
      { line: `GET /scenes?productgroupReference=${productgroupReference}` },
      { body: { scenes: [] } },
    );
  });

  it("scenes.list accepts the filter and the request options in one object", async () => {
    const productgroupReference = ref("Productgroup", "1");
    const sent = { line: `GET /scenes?productgroupReference=${productgroupReference}&page=2` };
    const list = (partner: PodPartner, signal?: AbortSignal) =>
      partner.scenes.list({ productgroupReference, query: { page: 2 }, signal });
    await exchange(list, sent, { body: { scenes: [] } });
    const reason = new Error("left");
    expect(await rejection(list(context.partner, AbortSignal.abort(reason)))).toBe(reason);
  });
});
