import { describe, expect, it } from "vitest";
import { type Bench, placeOrder, problem, setUp } from "../support.ts";

const day = 86_400_000;

/** A claim about both lines of a shipped order: three printed cases, and one screen protector. */
async function claimed(bench: Bench) {
  const orderReference = await placeOrder(bench);
  const shipmentReference = bench.emulator.ship(orderReference);
  const claimlines = [
    { orderlineIndex: 1, quantity: 3, claimcategoryReference: bench.demo.claimcategories.wrongItem },
    { orderlineIndex: 2, quantity: 1, claimcategoryReference: bench.demo.claimcategories.wrongItem },
  ];
  const file = (lines: unknown = claimlines) =>
    bench.post("/claim-item-issues", { claim: { orderReference, shipmentReference, claimlines: lines } });
  const claim: `Claim_${string}` = (await file()).body.claim.reference;
  return { claim, file, claimlines, orderReference, shipmentReference };
}

const read = async (bench: Bench, claim: string) => (await bench.get(`/claims/${claim}`)).body.claim;

describe("a review line by line", () => {
  it("awards and rejects units of each line, and replaces only the replaced ones", async () => {
    const bench = setUp();
    const { claim, orderReference } = await claimed(bench);
    const replacement = bench.emulator.reviewClaim(claim, {
      lines: [
        { orderlineIndex: 2, refund: 1, comment: "Refunded" },
        { orderlineIndex: 1, replacement: 2, rejection: 1 },
      ],
      refundShippingCosts: true,
      comment: "In part",
    });
    const decided = await read(bench, claim);
    expect(decided.status).toBe("resolved");
    expect(decided.decision).toEqual({
      decided: "2026-11-02T09:00:00.000Z",
      refundShippingCosts: true,
      comment: "In part",
    });
    expect(decided.claimlines.map(({ decision }: { decision: unknown }) => decision)).toEqual([
      { replacementQuantity: 2, refundQuantity: 0, rejectionQuantity: 1, comment: "" },
      { replacementQuantity: 0, refundQuantity: 1, rejectionQuantity: 0, comment: "Refunded" },
    ]);
    const { order } = (await bench.get(`/orders/${replacement}`)).body;
    const [first] = (await bench.get(`/orders/${orderReference}`)).body.order.orderlines;
    const { productReference, imageReference } = first;
    expect(order.orderlines).toMatchObject([{ index: 1, quantity: 2, productReference, imageReference }]);
  });

  it("resolves a claim with a single refunded unit, without a replacement order", async () => {
    const bench = setUp();
    const { claim } = await claimed(bench);
    const lines = [
      { orderlineIndex: 1, refund: 1, rejection: 2 },
      { orderlineIndex: 2, rejection: 1 },
    ];
    expect(bench.emulator.reviewClaim(claim, { lines })).toBeNull();
    expect((await read(bench, claim)).status).toBe("resolved");
  });

  it("rejects a claim without an awarded unit, and rejected units can be claimed again", async () => {
    const bench = setUp();
    const { claim, file, claimlines } = await claimed(bench);
    const lines = [
      { orderlineIndex: 1, rejection: 3 },
      { orderlineIndex: 2, rejection: 1 },
    ];
    bench.emulator.reviewClaim(claim, { lines });
    expect((await read(bench, claim)).status).toBe("rejected");
    const again = await file();
    expect(again.status).toBe(200);
    bench.emulator.reviewClaim(again.body.claim.reference, {
      lines: [
        { orderlineIndex: 1, replacement: 1, refund: 1, rejection: 1 },
        { orderlineIndex: 2, refund: 1 },
      ],
    });
    expect(problem(await file([{ ...claimlines[0], quantity: 2 }])).code).toBe("claimed_quantity_exceeds_shipped");
    expect((await file([{ ...claimlines[0], quantity: 1 }])).status).toBe(200);
  });

  it.each([
    [
      "quantities that do not add up",
      [
        { orderlineIndex: 1, refund: 2 },
        { orderlineIndex: 2, refund: 1 },
      ],
      "add up to 2",
    ],
    ["a line without a decision", [{ orderlineIndex: 1, refund: 3 }], "no decision for line 2"],
    [
      "a line that is not in the claim",
      [
        { orderlineIndex: 1, refund: 3 },
        { orderlineIndex: 2, refund: 1 },
        { orderlineIndex: 3, refund: 1 },
      ],
      "Line 3 is not in the claim",
    ],
  ])("is refused with %s, and the claim stays pending", async (_name, lines, message) => {
    const bench = setUp();
    const { claim } = await claimed(bench);
    const orders = (await bench.get("/orders")).body.orders.length;
    expect(() => bench.emulator.reviewClaim(claim, { lines })).toThrow(message);
    expect((await read(bench, claim)).decision).toBeNull();
    expect((await bench.get("/orders")).body.orders).toHaveLength(orders);
  });

  it("is refused together with a decision about the whole claim", async () => {
    const bench = setUp();
    const { claim } = await claimed(bench);
    const both = { decision: "refund", lines: [] } as unknown as { decision: "refund" };
    expect(() => bench.emulator.reviewClaim(claim, both)).toThrow("either `decision`");
    expect(() => bench.emulator.reviewClaim(claim, {} as { decision: "refund" })).toThrow("either `decision`");
  });

  it("decides the lines of a missing package of combined orders order by order", async () => {
    const bench = setUp();
    const combined = { shippingKind: "combined", dropshipAddress: undefined };
    const [one, two] = [await placeOrder(bench, combined), await placeOrder(bench, combined)];
    const shipmentReference = bench.emulator.ship([one, two]);
    await bench.emulator.clock.advance({ days: 10 });
    const created = await bench.post("/claim-package-missing", { claim: { shipmentReference } });
    const claim = created.body.claim.reference;
    bench.emulator.reviewClaim(claim, {
      lines: [
        { orderReference: two, orderlineIndex: 1, refund: 3 },
        { orderReference: two, orderlineIndex: 2, refund: 1 },
        { orderReference: one, orderlineIndex: 1, rejection: 3 },
        { orderReference: one, orderlineIndex: 2, rejection: 1 },
      ],
    });
    const { claimlines } = await read(bench, claim);
    expect(claimlines.map((line: { decision: { refundQuantity: number } }) => line.decision.refundQuantity)).toEqual([
      0, 0, 3, 1,
    ]);
  });
});

describe("claims with automation", () => {
  it("are reviewed at their own time, and replacements ship as other orders do", async () => {
    const review = { after: { days: 2 }, decision: "replacement", comment: "Sorry" } as const;
    const bench = setUp({ automation: { review, shipping: { days: 1 } } });
    const { claim } = await claimed(bench);
    await bench.emulator.clock.advance(2 * day - 1);
    expect((await read(bench, claim)).status).toBe("pending");
    await bench.emulator.clock.advance({ days: 7 });
    const { decision, claimlines } = await read(bench, claim);
    expect(decision).toEqual({ decided: "2026-11-04T09:00:00.000Z", refundShippingCosts: false, comment: "Sorry" });
    expect(claimlines[0].decision.replacementQuantity).toBe(3);
    const [{ reference }] = (await bench.get("/orders")).body.orders;
    const replacement = (await bench.get(`/orders/${reference}`)).body.order;
    expect(replacement.orderlines.map((line: { shippedQuantity: number }) => line.shippedQuantity)).toEqual([3, 1]);
    expect(bench.emulator.world().organizations[0]?.shipments.at(-1)?.shipped).toBe(Date.parse("2026-11-05T09:00Z"));
  });

  it("are not reviewed after a retraction or a review by hand", async () => {
    const bench = setUp({ automation: { review: { after: { days: 2 }, decision: "refund" } } });
    const [retracted, rejected] = [(await claimed(bench)).claim, (await claimed(bench)).claim];
    await bench.send("POST", `/claims/${retracted}/retract`);
    bench.emulator.reviewClaim(rejected, { decision: "rejection" });
    await bench.emulator.clock.advance({ days: 3 });
    expect((await read(bench, retracted)).status).toBe("retracted");
    expect((await read(bench, rejected)).status).toBe("rejected");
    expect(() => bench.emulator.reviewClaim(retracted, { decision: "refund" })).toThrow("retracted");
    expect(problem(await bench.send("POST", `/claims/${rejected}/retract`)).code).toBe("claim_not_pending");
  });

  it("that are pending are reviewed when it is switched on, and not when it is switched off", async () => {
    const bench = setUp();
    const { claim } = await claimed(bench);
    bench.emulator.automate({ review: { after: { days: 1 }, decision: "rejection" } });
    const { claim: other } = await claimed(bench);
    await bench.emulator.clock.advance({ hours: 12 });
    bench.emulator.automate({ review: { after: { days: 1 }, decision: "refund" } });
    await bench.emulator.clock.advance({ days: 1 });
    expect((await read(bench, claim)).status).toBe("resolved");
    expect((await read(bench, other)).decision.decided).toBe("2026-11-03T21:00:00.000Z");
  });
});
