import type { PodPartner } from "pod-partner";
import { describe } from "vitest";
import { ref } from "../../support/references.ts";
import { useRefusals } from "../../support/refusals.ts";

const evidence = (count: number) => Array.from({ length: count }, (_, index) => ref("Evidence", String(index)));
const claimline = {
  orderlineIndex: 1,
  quantity: 1,
  claimcategoryReference: ref("Claimcategory"),
  evidenceReferences: evidence(3),
};
const issues = (changes: object) => (partner: PodPartner) =>
  partner.claims.createItemIssues({
    shipmentReference: ref("Shipment"),
    orderReference: ref("Order"),
    claimlines: [claimline],
    ...changes,
  } as never);
const withLine = (changes: object) => issues({ claimlines: [claimline, { ...claimline, ...changes }] });
const missing = (changes: object) => (partner: PodPartner) =>
  partner.claims.createPackageMissing({ shipmentReference: ref("Shipment"), ...changes } as never);
const closedAfter = (value: unknown) => (partner: PodPartner) =>
  partner.claims.list({ closedAfter: value as never }).toArray();

const line = ["claim", "claimlines", 1] as const;

describe("a claim is checked before it is sent (specification 4.9, 8)", () => {
  const { refuses, accepts } = useRefusals();

  refuses([
    ["an order as the shipment", issues({ shipmentReference: ref("Order") }), [["claim", "shipmentReference"]]],
    ["a shipment as the order", issues({ orderReference: ref("Shipment") }), [["claim", "orderReference"]]],
    ["no order", issues({ orderReference: undefined }), [["claim", "orderReference"]]],
    ["a comment of 1001 characters", issues({ comment: "x".repeat(1001) }), [["claim", "comment"]]],
    [
      "a comment of 1001 characters that are two code units each",
      issues({ comment: "😀".repeat(1001) }),
      [["claim", "comment"]],
    ],
    ["a comment that is a number", issues({ comment: 5 }), [["claim", "comment"]]],
    ["an unknown field", issues({ reason: "late" }), [["claim", "reason"]]],
    ["no claimlines", issues({ claimlines: [] }), [["claim", "claimlines"]]],
    ["a fourth photo of a line", withLine({ evidenceReferences: evidence(4) }), [[...line, "evidenceReferences"]]],
    ["an image as a photo", withLine({ evidenceReferences: [ref("Image")] }), [[...line, "evidenceReferences", 0]]],
    [
      "a claim as the category",
      withLine({ claimcategoryReference: ref("Claim") }),
      [[...line, "claimcategoryReference"]],
    ],
    ["an orderline 0", withLine({ orderlineIndex: 0 }), [[...line, "orderlineIndex"]]],
    ["a quantity of 0", withLine({ quantity: 0 }), [[...line, "quantity"]]],
    ["a quantity of NaN", withLine({ quantity: Number.NaN }), [[...line, "quantity"]]],
    ["an unknown claimline field", withLine({ comment: "torn" }), [[...line, "comment"]]],
    [
      "a package-missing claim on an order",
      missing({ shipmentReference: ref("Order") }),
      [["claim", "shipmentReference"]],
    ],
    [
      "a fourth photo of a missing package",
      missing({ evidenceReferences: evidence(4) }),
      [["claim", "evidenceReferences"]],
    ],
    ["a comment on a missing package", missing({ comment: "gone" }), [["claim", "comment"]]],
    [
      "several faults, each with its path",
      issues({
        shipmentReference: "x",
        comment: "x".repeat(1001),
        claimlines: [{ ...claimline, quantity: -1, orderlineIndex: "1" }],
      }),
      [
        ["claim", "shipmentReference"],
        ["claim", "comment"],
        ["claim", "claimlines", 0, "quantity"],
        ["claim", "claimlines", 0, "orderlineIndex"],
      ],
    ],
    [
      "claims.get with a category",
      (partner) => partner.claims.get(ref("Claimcategory") as never),
      [["claimReference"]],
    ],
    ["claims.retract with an order", (partner) => partner.claims.retract(ref("Order") as never), [["claimReference"]]],
  ]);

  refuses(
    [
      "yesterday",
      "",
      "2026-13-45T99:99:99Z",
      "2026-11-01T00:00:00Z; drop",
      "2026-11-01T00:00garbage",
      "2026-02-30",
      "2026-11-01T25:00:00Z",
      1_767_225_600_000,
      null,
    ].map((value) => [`${JSON.stringify(value)} for closedAfter`, closedAfter(value), [["closedAfter"]]] as const),
  );

  accepts([
    ["a comment of 1000 characters", issues({ comment: "x".repeat(1000) })],
    ["a comment of 1000 characters that are two code units each", issues({ comment: "😀".repeat(1000) })],
    ["three photos", issues({})],
    ["a missing package without a photo", missing({ evidenceReferences: [] })],
    ["closedAfter in UTC", closedAfter("2026-11-01T00:00:00Z")],
    ["closedAfter with milliseconds", closedAfter(new Date(0).toISOString())],
    ["closedAfter with an offset", closedAfter("2026-11-01T00:00:00+01:00")],
    ...["2026-11-01", "20261101T000000Z", "2026-11-01T00:00", "2026-11-01T24:00:00", "2026-11-01T00:00:00,5+0100"].map(
      (text) => [`closedAfter as ${text}`, closedAfter(text)] as const,
    ),
  ]);
});
