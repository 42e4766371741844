import type { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { missing, rejection, useExchange } from "../support/exchange.ts";
import { ref } from "../support/references.ts";

const scene = {
  reference: ref("Scene", "1"),
  name: "Desk",
  description: "A wooden desk in the morning",
  private: false,
  allowsProductPerspectives: true,
  compatibleProductgroups: [{ reference: ref("Productgroup", "1"), later: 1 }],
  perspectives: [{ reference: ref("Perspective", "1") }, { reference: ref("Perspective", "2") }],
  later: "kept",
};

describe("scenes (specification 2.9, 4.6)", () => {
  const { context, exchange, checksResponses } = useExchange();
  const scenes = [{ reference: ref("Scene", "1"), name: "Desk", later: null }];

  it("scenes.list sends GET /scenes and returns the list", async () => {
    const result = await exchange((partner) => partner.scenes.list(), { line: "GET /scenes" }, { body: { scenes } });
    expect(result).toStrictEqual(scenes);
  });

  it("scenes.list sends productgroupReference as a query", async () => {
    const result = await exchange(
      (partner) => partner.scenes.list({ productgroupReference: ref("Productgroup", "1") }),
      { line: `GET /scenes?productgroupReference=${ref("Productgroup", "1")}` },
      { body: { scenes: [] } },
    );
    expect(result).toStrictEqual([]);
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

  it("scenes.get sends GET /scenes/{sceneReference} and unwraps the scene", async () => {
    const result = await exchange(
      (partner) => partner.scenes.get(ref("Scene", "1")),
      { line: `GET /scenes/${ref("Scene", "1")}` },
      { body: { scene } },
    );
    expect(result).toStrictEqual(scene);
  });

  checksResponses("scenes.list", {
    call: (partner) => partner.scenes.list(),
    wire: { scenes },
    refuses: [
      [["scenes"], missing],
      [["scenes", 0, "reference"], missing],
      [["scenes", 0, "reference"], ref("Perspective", "1")],
      [["scenes", 0, "name"], missing],
    ],
  });

  checksResponses("scenes.get", {
    call: (partner) => partner.scenes.get(ref("Scene", "1")),
    wire: { scene },
    refuses: [
      ...Object.keys(scene)
        .filter((field) => field !== "later")
        .map((field) => [["scene", field], missing] as const),
      [["scene", "private"], "no"],
      [["scene", "allowsProductPerspectives"], 1],
      [["scene", "compatibleProductgroups", 0, "reference"], ref("Product", "1")],
      [["scene", "perspectives", 1, "reference"], missing],
    ],
    accepts: [
      [["scene", "description"], ""],
      [["scene", "compatibleProductgroups"], []],
      [["scene", "perspectives"], []],
    ],
  });
});
