import { describe, expect, it } from "vitest";
import { type Bench, placeOrder, problem, setUp } from "../support.ts";

const day = 86_400_000;

/** An order whose items are all shipped. */
async function shipped(bench: Bench, over: Record<string, unknown> = {}) {
  const orderReference = await placeOrder(bench, over);
  return { orderReference, shipmentReference: bench.emulator.ship(orderReference) };
}

type Shipped = Awaited<ReturnType<typeof shipped>>;

const issues = (bench: Bench, of: Shipped, line: Record<string, unknown> = {}, over: Record<string, unknown> = {}) =>
  bench.post("/claim-item-issues", {
    claim: {
      ...of,
      claimlines: [
        { orderlineIndex: 1, quantity: 1, claimcategoryReference: bench.demo.claimcategories.wrongItem, ...line },
      ],
      ...over,
    },
  });

const missing = (bench: Bench, { shipmentReference }: Shipped, over: Record<string, unknown> = {}) =>
  bench.post("/claim-package-missing", { claim: { shipmentReference, ...over } });

describe("item issues", () => {
  it("of a combined shipment are limited order by order when its package was claimed as missing", async () => {
    const bench = setUp();
    const combined = { shippingKind: "combined", dropshipAddress: undefined };
    const orders = [await placeOrder(bench, combined), await placeOrder(bench, combined)] as const;
    const shipmentReference = bench.emulator.ship(orders);
    await bench.clock.advance(10 * day);
    const { reference } = (await missing(bench, { shipmentReference, orderReference: orders[0] })).body.claim;
    for (const orderReference of orders) {
      expect((await issues(bench, { shipmentReference, orderReference })).status).toBe(409);
    }
    bench.emulator.reviewClaim(reference, { decision: "rejection" });
    for (const orderReference of orders) {
      expect((await issues(bench, { shipmentReference, orderReference }, { quantity: 3 })).status).toBe(200);
    }
  });
});

describe("evidence", () => {
  it("belongs to one claim, and is deleted four months after that claim is closed", async () => {
    const bench = setUp();
    const of = await shipped(bench);
    const evidenceReferences = [await bench.evidence()];
    const claim = (await issues(bench, of, { evidenceReferences })).body.claim.reference;
    expect(problem(await issues(bench, of, { evidenceReferences })).code).toBe("unknown_input_error");
    bench.emulator.reviewClaim(claim, { decision: "refund" });
    const urls = async () => (await bench.get(`/claims/${claim}`)).body.claim.claimlines[0].evidenceUrls;
    await bench.clock.set("2027-03-02T08:59:59Z");
    expect(await urls()).toHaveLength(1);
    await bench.clock.advance(1000);
    expect(await urls()).toEqual([]);
    expect((await bench.get(`/evidence/${evidenceReferences[0]}`)).status).toBe(404);
  });
});
