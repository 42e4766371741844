import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../support/exchange.ts";
import { ref } from "../support/references.ts";

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
  const fields = (...names: readonly string[]) => names;

  it("claims.categories.list sends GET /claimcategories and returns the list", async () => {
    const claimcategories = [
      { ...category, evidenceRequired: true },
      { reference: ref("Claimcategory", "2"), name: "Package missing", evidenceRequired: false },
    ];
    const result = await exchange(
      (partner) => partner.claims.categories.list(),
      { line: "GET /claimcategories" },
      { body: { claimcategories } },
    );
    expect(result).toStrictEqual(claimcategories);
  });

  it("claims.list sends GET /claims and returns the items", async () => {
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
    "claims.get sends GET /claims/{claimReference} and unwraps a %s claim",
    async (_, claim) => {
      const result = await exchange(
        (partner) => partner.claims.get(reference),
        { line: `GET /claims/${reference}` },
        { body: { claim } },
      );
      expect(result).toStrictEqual(claim);
    },
  );

  checksResponses("claims.categories.list", {
    call: (partner) => partner.claims.categories.list(),
    wire: { claimcategories: [{ ...category, evidenceRequired: true }] },
    refuses: [
      [["claimcategories"], missing],
      ...fields("reference", "name", "evidenceRequired").map(
        (field) => [["claimcategories", 0, field], missing] as const,
      ),
      [["claimcategories", 0, "evidenceRequired"], "yes"],
      [["claimcategories", 0, "reference"], ref("Claim", "1")],
    ],
  });

  checksResponses("claims.list", {
    call: (partner) => partner.claims.list().toArray(),
    wire: { claims: [summary], nextCursor: null },
    refuses: [
      [["claims"], missing],
      ...fields("reference", "orderReference", "status", "claimcategories", "created", "retracted", "decided").map(
        (field) => [["claims", 0, field], missing] as const,
      ),
      [["claims", 0, "claimcategories", 0, "name"], missing],
      [["claims", 0, "created"], null],
      [["claims", 0, "decided"], "soon"],
    ],
    accepts: [
      [["claims", 0, "status"], "a-status-of-tomorrow"],
      [["claims", 0, "claimcategories"], []],
      [["claims", 0, "created"], "20261110T100000Z"],
      [["claims", 0, "created"], "2026-11-10T10"],
      [["claims", 0, "created"], "2026-11-10"],
    ],
  });

  checksResponses("claims.get", {
    call: (partner) => partner.claims.get(reference),
    wire: { claim: decided },
    refuses: [
      [["claim"], missing],
      ...fields(
        "reference",
        "orderReference",
        "status",
        "created",
        "retracted",
        "decision",
        "shipmentReference",
        "evidenceUrls",
        "claimlines",
      ).map((field) => [["claim", field], missing] as const),
      ...fields("productReference", "orderlineIndex", "quantity", "claimcategory", "decision", "evidenceUrls").map(
        (field) => [["claim", "claimlines", 0, field], missing] as const,
      ),
      ...fields("replacementQuantity", "refundQuantity", "rejectionQuantity").map(
        (field) => [["claim", "claimlines", 0, "decision", field], missing] as const,
      ),
      [["claim", "decision", "decided"], missing],
      [["claim", "decision", "refundShippingCosts"], "no"],
      [["claim", "comment"], 5],
      [["claim", "retracted"], "never"],
      [["claim", "evidenceUrls"], null],
      [["claim", "claimlines", 0, "evidenceUrls", 0], 5],
      [["claim", "claimlines", 0, "quantity"], 1.5],
      [["claim", "claimlines", 0, "imageReference"], ref("Evidence", "1")],
      [["claim", "claimlines", 0, "claimcategory", "reference"], ref("Claim", "1")],
    ],
    accepts: [
      [["claim", "status"], "a-status-of-tomorrow"],
      [["claim", "claimlines", 0, "imageReference"], null],
      [["claim", "claimlines", 0, "evidenceUrls"], []],
    ],
  });
});
