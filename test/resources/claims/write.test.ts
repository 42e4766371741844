import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";

const reference = ref("Claim", "1");
const created = { status: 201, body: { claim: { reference, later: 1 } } };
const itemIssues = {
  shipmentReference: ref("Shipment", "1"),
  orderReference: ref("Order", "1"),
  comment: "x".repeat(1000),
  claimlines: [
    {
      orderlineIndex: 1,
      quantity: 2,
      claimcategoryReference: ref("Claimcategory", "1"),
      evidenceReferences: [ref("Evidence", "1"), ref("Evidence", "2"), ref("Evidence", "3")],
    },
  ],
};

describe("claims: writing (specification 4.9)", () => {
  const { exchange, checksResponses } = useExchange();

  it("claims.createPackageMissing sends POST /claim-package-missing and returns the reference", async () => {
    const result = await exchange(
      (partner) =>
        partner.claims.createPackageMissing({
          shipmentReference: ref("Shipment", "1"),
          evidenceReferences: [ref("Evidence", "1")],
        }),
      {
        line: "POST /claim-package-missing",
        json: { claim: { shipmentReference: ref("Shipment", "1"), evidenceReferences: [ref("Evidence", "1")] } },
      },
      created,
    );
    expect(result).toMatchObject({ reference });
  });

  it("claims.createPackageMissing sends an empty list when there is no evidence", async () => {
    await exchange(
      (partner) => partner.claims.createPackageMissing({ shipmentReference: ref("Shipment", "1") }),
      {
        line: "POST /claim-package-missing",
        json: { claim: { shipmentReference: ref("Shipment", "1"), evidenceReferences: [] } },
      },
      created,
    );
  });

  it("claims.createItemIssues sends POST /claim-item-issues with a comment of 1000 characters and 3 photos", async () => {
    const result = await exchange(
      (partner) => partner.claims.createItemIssues(itemIssues),
      {
        line: "POST /claim-item-issues",
        json: {
          claim: {
            shipmentReference: ref("Shipment", "1"),
            orderReference: ref("Order", "1"),
            comment: "x".repeat(1000),
            claimlines: [
              {
                orderlineIndex: 1,
                quantity: 2,
                claimcategoryReference: ref("Claimcategory", "1"),
                evidenceReferences: [ref("Evidence", "1"), ref("Evidence", "2"), ref("Evidence", "3")],
              },
            ],
          },
        },
      },
      created,
    );
    expect(result).toMatchObject({ reference });
  });

  it("claims.createItemIssues leaves out a comment that is not given", async () => {
    const { comment: _, ...silent } = itemIssues;
    await exchange(
      (partner) => partner.claims.createItemIssues(silent),
      { line: "POST /claim-item-issues", json: { claim: silent } },
      created,
    );
  });

  it("claims.retract sends POST /claims/{claimReference}/retract without a body and returns nothing", async () => {
    const result = await exchange(
      (partner) => partner.claims.retract(reference),
      { line: `POST /claims/${reference}/retract` },
      { status: 204 },
    );
    expect(result).toBeUndefined();
  });

  const broken = [
    [["claim"], missing],
    [["claim", "reference"], missing],
    [["claim", "reference"], ref("Claimcategory", "1")],
  ] as const;

  checksResponses("claims.createPackageMissing", {
    call: (partner) => partner.claims.createPackageMissing({ shipmentReference: ref("Shipment", "1") }),
    wire: { claim: { reference } },
    refuses: broken,
  });
  checksResponses("claims.createItemIssues", {
    call: (partner) => partner.claims.createItemIssues(itemIssues),
    wire: { claim: { reference } },
    refuses: broken,
  });
});
