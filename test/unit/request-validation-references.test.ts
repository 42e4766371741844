import type { PodPartner } from "pod-partner";
import { describe } from "vitest";
import { ref } from "../support/references.ts";
import { type Refusal, useRefusals } from "../support/refusals.ts";

/** Every call with a reference in its path or its query, with `wrong` as the reference. */
const calls: readonly (readonly [string, (partner: PodPartner, wrong: never) => PromiseLike<unknown>, string])[] = [
  ["catalog.products.get", (partner, wrong) => partner.catalog.products.get(wrong), "productReference"],
  ["catalog.products.media", (partner, wrong) => partner.catalog.products.media(wrong, "a.png"), "productReference"],
  ["addresses.get", (partner, wrong) => partner.addresses.get(wrong), "addressReference"],
  ["scenes.get", (partner, wrong) => partner.scenes.get(wrong), "sceneReference"],
  ["scenes.list", (partner, wrong) => partner.scenes.list({ productgroupReference: wrong }), "productgroupReference"],
  ["perspectives.get", (partner, wrong) => partner.perspectives.get(wrong), "perspectiveReference"],
  ["perspectives.list", (partner, wrong) => partner.perspectives.list({ sceneReference: wrong }), "sceneReference"],
  ["compositions.get", (partner, wrong) => partner.compositions.get(wrong), "compositionReference"],
  ["renders.get", (partner, wrong) => partner.renders.get(wrong), "renderReference"],
  ["renders.media", (partner, wrong) => partner.renders.media(wrong), "renderReference"],
  ["renders.thumbnail", (partner, wrong) => partner.renders.thumbnail(wrong), "renderReference"],
  ["renders.wait", (partner, wrong) => partner.renders.wait(wrong), "renderReference"],
  ["orders.get", (partner, wrong) => partner.orders.get(wrong), "orderReference"],
  ["shipments.get", (partner, wrong) => partner.shipments.get(wrong), "shipmentReference"],
  ["claims.get", (partner, wrong) => partner.claims.get(wrong), "claimReference"],
  ["claims.retract", (partner, wrong) => partner.claims.retract(wrong), "claimReference"],
];

/** No call accepts a key's reference, and no call accepts one of these in place of another kind. */
const wrongs = [
  ["a reference of another kind", ref("Key")],
  ["nothing", undefined],
  ["null", null],
  ["a number", 7],
  ["an empty string", ""],
  ["a relative path", "../orders"],
] as const;

describe("a reference of the wrong kind is refused before a request is sent (specification 2.1)", () => {
  const { refuses } = useRefusals();

  for (const [name, call, parameter] of calls) {
    const optional = name.endsWith(".list");
    refuses(
      wrongs
        .filter(([, value]) => !(optional && value === undefined))
        .map(
          ([what, value]): Refusal => [
            `${what} for ${name}`,
            (partner) => call(partner, value as never),
            [[parameter]],
          ],
        ),
    );
  }

  refuses([
    [
      "each of three wrong references of a look-up",
      (partner) =>
        partner.compositions.lookup({
          sceneReference: ref("Product"),
          productReference: ref("Perspective"),
          perspectiveReference: ref("Scene"),
        } as never),
      [["sceneReference"], ["productReference"], ["perspectiveReference"]],
    ],
    [
      "both wrong references of a render",
      (partner) =>
        partner.renders.create({ compositionReference: ref("Image"), imageReference: ref("Composition") } as never),
      [
        ["render", "compositionReference"],
        ["render", "imageReference"],
      ],
    ],
    [
      "an unknown field of a render",
      (partner) =>
        partner.renders.create({
          compositionReference: ref("Composition"),
          imageReference: ref("Image"),
          size: "large",
        } as never),
      [["render", "size"]],
    ],
    ["an empty SKU", (partner) => partner.catalog.products.lookup({ legacySku: "" }), [["legacyItemSku"]]],
    ["an unknown filter", (partner) => partner.scenes.list({ colour: "red" } as never), [["colour"]]],
    [
      "an unknown filter beside a known one",
      (partner) => partner.perspectives.list({ sceneReference: ref("Scene"), colour: "red" } as never),
      [["colour"]],
    ],
  ]);
});
