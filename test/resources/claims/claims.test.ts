import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";

const category = { reference: ref("Claimcategory", "1"), name: "Print defect", later: 1 };
const summary = {
  reference: ref("Claim", "1"),
  orderReference: ref("Order", "1"),
  status: "pending",
  claimcategories: [category],
  created: "2026-11-10T10:00:00.000Z",
  retracted: null,
  decided: null,
  later: "kept",
};
const claimline = {
  productReference: ref("Product", "1"),
  orderlineIndex: 1,
  quantity: 2,
  imageReference: ref("Image", "1"),
  claimcategory: category,
  decision: {
    replacementQuantity: 1,
    refundQuantity: 1,
    rejectionQuantity: 0,
    comment: "One is replaced, one refunded.",
    later: 2,
  },
  evidenceUrls: ["https://evidence.example/1.jpg"],
  later: 3,
};
const decided = {
  reference: ref("Claim", "1"),
  orderReference: ref("Order", "1"),
  status: "resolved",
  comment: "The print is smeared.",
  createdBy: "user-17",
  created: "2026-11-10T10:00:00.000Z",
  retracted: null,
  decision: { decided: "2026-11-12T10:00:00.000Z", refundShippingCosts: true, comment: "Sorry.", later: 4 },
  shipmentReference: ref("Shipment", "1"),
  evidenceUrls: [],
  claimlines: [claimline],
  later: 5,
};
const pending = { ...decided, status: "pending", decision: null, claimlines: [{ ...claimline, decision: null }] };
const retracted = { ...pending, status: "retracted", retracted: "2026-11-11T10:00:00.000Z" };
const packageMissing = { ...pending, evidenceUrls: ["https://evidence.example/2.jpg"], comment: null };

describe("claims: reading (specification 2.8, 4.9)", () => {
  const { exchange, checksResponses } = useExchange();
  const reference = ref("Claim", "1");

  it("claims.list returns claims that are open, decided or retracted", async () => {
    const claims = [
      summary,
      { ...summary, reference: ref("Claim", "2"), status: "rejected", decided: "2026-11-12T10:00:00.000Z" },
      { ...summary, reference: ref("Claim", "3"), status: "retracted", retracted: "2026-11-12T10:00:00.000Z" },
    ];
    const result = await exchange(
      (partner) => partner.claims.list().toArray(),
      { line: "GET /claims" },
      { body: { claims, nextCursor: null } },
    );
    expect(result).toStrictEqual(claims);
  });

  it("claims.list sends closedAfter as a query", async () => {
    await exchange(
      (partner) => partner.claims.list({ closedAfter: "2026-10-01T00:00:00.000Z" }).toArray(),
      { line: "GET /claims?closedAfter=2026-10-01T00%3A00%3A00.000Z" },
      { body: { claims: [], nextCursor: null } },
    );
  });

  it.each(Object.entries({ decided, pending, retracted, "package-missing": packageMissing }))(
    "claims.get returns a %s claim",
    async (_, claim) => {
      const result = await exchange(
        (partner) => partner.claims.get(reference),
        { line: `GET /claims/${reference}` },
        { body: { claim } },
      );
      expect(result).toStrictEqual(claim);
    },
  );

  checksResponses("claims.list", {
    call: (partner) => partner.claims.list().toArray(),
    wire: { claims: [summary], nextCursor: null },
    refuses: [[["claims", 0, "decided"], "soon"]],
    accepts: [
      [["claims", 0, "created"], "20261110T100000Z"],
      [["claims", 0, "created"], "2026-11-10T10"],
      [["claims", 0, "created"], "2026-11-10"],
    ],
  });

  checksResponses("claims.get", {
    call: (partner) => partner.claims.get(reference),
    wire: { claim: decided },
    refuses: [
      ...["replacementQuantity", "refundQuantity", "rejectionQuantity"].map(
        (field) => [["claim", "claimlines", 0, "decision", field], missing] as const,
      ),
      [["claim", "decision", "decided"], missing],
      [["claim", "decision", "refundShippingCosts"], "no"],
      [["claim", "retracted"], "never"],
    ],
  });
});
