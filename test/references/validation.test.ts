import type { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { endpoints } from "../support/endpoints.ts";
import { argumentsOf, methodOf } from "../support/methods.ts";
import { ref } from "../support/references.ts";
import { type Refusal, useRefusals } from "../support/refusals.ts";

type Call = (partner: PodPartner, wrong: unknown) => PromiseLike<unknown>;

const callOf = (partner: PodPartner, name: string, ...given: readonly unknown[]) =>
  methodOf(partner, name)(...given) as PromiseLike<unknown>;

/** Every call with a reference in its path or its options, with `wrong` as the reference. */
const calls: readonly (readonly [name: string, parameter: string, call: Call])[] = [
  ...endpoints.flatMap((endpoint) => {
    const { call: name, path, query } = endpoint;
    const [given = [], ...options] = argumentsOf(name) ?? [];
    const parameters = Array.from(path.matchAll(/\{(\w+Reference)\}/g), ([, parameter = ""]) => parameter);
    return [
      ...parameters.map((parameter, index): (typeof calls)[number] => [
        name,
        parameter,
        (partner, wrong) => callOf(partner, name, ...given.with(index, wrong)),
      ]),
      ...options
        .filter((option) => option in query && option.endsWith("Reference"))
        .map((option): (typeof calls)[number] => [
          name,
          option,
          (partner, wrong) => callOf(partner, name, ...given, { [option]: wrong }),
        ]),
    ];
  }),
  ["renders.wait", "renderReference", (partner, wrong) => callOf(partner, "renders.wait", wrong)],
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

  it("of every endpoint with a reference", () => {
    const named = endpoints.filter(({ path }) => path.includes("Reference}")).map(({ call }) => call);
    expect(named.length).toBeGreaterThan(10);
    expect(calls.map(([name]) => name)).toEqual(expect.arrayContaining(named));
  });

  for (const [name, parameter, call] of calls) {
    const optional = name.endsWith(".list");
    refuses(
      wrongs
        .filter(([, value]) => !(optional && value === undefined))
        .map(
          ([what, value]): Refusal => [
            `${what} as the ${parameter} of ${name}`,
            (partner) => call(partner, value),
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
