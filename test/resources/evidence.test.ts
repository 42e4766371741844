import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../support/exchange.ts";
import { jpeg, png } from "../support/pictures.ts";
import { ref } from "../support/references.ts";

describe("evidence (specification 2.7, 4.5)", () => {
  const { exchange, checksResponses } = useExchange();

  it.each([
    ["JPEG", jpeg],
    ["PNG", png],
  ])("evidence.upload sends the raw bytes of a %s to POST /evidence", async (_, bytes) => {
    const result = await exchange(
      (partner) => partner.evidence.upload(bytes),
      { line: "POST /evidence", bytes },
      { status: 201, body: { evidence: { reference: ref("Evidence", "1"), later: "kept" } } },
    );
    expect(result).toStrictEqual({ reference: ref("Evidence", "1"), later: "kept" });
  });

  checksResponses("evidence.upload", {
    call: (partner) => partner.evidence.upload(png),
    wire: { evidence: { reference: ref("Evidence", "1") } },
    refuses: [
      [["evidence"], missing],
      [["evidence", "reference"], missing],
      [["evidence", "reference"], ref("Image", "1")],
    ],
  });
});
