import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../support/exchange.ts";

const rendertokens = {
  used: 120,
  limit: 1000,
  remaining: 880,
  resets: "2026-11-23T00:00:00+01:00",
  later: "kept",
};

describe("rendertokens (specification 2.9, 4.6)", () => {
  const { exchange, checksResponses } = useExchange();

  it("rendertokens.get sends GET /rendertokens and unwraps the budget", async () => {
    const result = await exchange(
      (partner) => partner.rendertokens.get(),
      { line: "GET /rendertokens" },
      { body: { rendertokens } },
    );
    expect(result).toStrictEqual(rendertokens);
  });

  checksResponses("rendertokens.get", {
    call: (partner) => partner.rendertokens.get(),
    wire: { rendertokens },
    refuses: [
      [["rendertokens"], missing],
      [["rendertokens", "used"], missing],
      [["rendertokens", "limit"], missing],
      [["rendertokens", "remaining"], missing],
      [["rendertokens", "resets"], missing],
      [["rendertokens", "used"], "120"],
      [["rendertokens", "limit"], 0.5],
      [["rendertokens", "remaining"], null],
      [["rendertokens", "resets"], "next monday"],
    ],
    accepts: [
      [["rendertokens", "remaining"], 0],
      [["rendertokens", "resets"], "2026-11-22T23:00:00Z"],
    ],
  });
});
