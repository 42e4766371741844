import { GoneError, NotFoundError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { missing, rejection, useExchange } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";

const composition = { reference: ref("Composition", "1"), tokenCost: 3, scene: { reference: ref("Scene", "1") } };
const combination = {
  sceneReference: ref("Scene", "1"),
  productReference: ref("Product", "2"),
  perspectiveReference: ref("Perspective", "3"),
};

describe("compositions (specification 2.9, 4.6)", () => {
  const { context, exchange, checksResponses } = useExchange();

  it("compositions.lookup sends GET /lookup-composition with the three references and unwraps the composition", async () => {
    const query = `sceneReference=${ref("Scene", "1")}&productReference=${ref("Product", "2")}&perspectiveReference=${ref("Perspective", "3")}`;
    const result = await exchange(
      (partner) => partner.compositions.lookup(combination),
      { line: `GET /lookup-composition?${query}` },
      { body: { composition } },
    );
    expect(result).toStrictEqual(composition);
  });

  it.each([
    [404, "a combination that does not exist", NotFoundError],
    [410, "a combination that is no longer available", GoneError],
  ] as const)("compositions.lookup reports %i for %s as an error of its own class", async (status, _, type) => {
    context.service.respond({ status, body: { code: "composition_not_found", message: "No." } });
    const error = await rejection(context.partner.compositions.lookup(combination));
    expect(type.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ status, endpoint: "GET /lookup-composition" });
  });

  checksResponses("compositions.lookup", {
    call: (partner) => partner.compositions.lookup(combination),
    wire: { composition },
    refuses: [
      [["composition"], missing],
      [["composition", "reference"], missing],
      [["composition", "reference"], ref("Scene", "1")],
      [["composition", "tokenCost"], missing],
      [["composition", "tokenCost"], 1.5],
      [["composition", "tokenCost"], "3"],
    ],
  });
});
