import { describe, expect, it } from "vitest";
import { type Bench, placeOrder, setUp } from "../support.ts";

const day = 86_400_000;

/** Files three claims of one item each, retracts all of them, and returns their references, newest first. */
async function threeClosedClaims(bench: Bench): Promise<readonly string[]> {
  const orderReference = await placeOrder(bench);
  const shipmentReference = bench.emulator.ship(orderReference);
  const claimlines = [{ orderlineIndex: 1, quantity: 1, claimcategoryReference: bench.demo.claimcategories.wrongItem }];
  const claims: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const filed = await bench.post("/claim-item-issues", { claim: { shipmentReference, orderReference, claimlines } });
    const { reference } = filed.body.claim;
    await bench.send("POST", `/claims/${reference}/retract`);
    claims.unshift(reference);
  }
  return claims;
}

/** Reads a list of claims to its end. Each further request has only the cursor (specification 4.11, rule 3). */
async function listed(bench: Bench, query: string, betweenPages = async () => {}): Promise<readonly string[]> {
  const references: string[] = [];
  let next = query;
  for (let pages = 0; pages < 10; pages += 1) {
    const { body } = await bench.get(`/claims${next}`);
    references.push(...body.claims.map(({ reference }: { reference: string }) => reference));
    if (body.nextCursor === null) return references;
    next = `?cursor=${body.nextCursor}`;
    await betweenPages();
  }
  throw new Error("The list does not end");
}

describe("the pages of the claim list", () => {
  it("keep `closedAfter` when a request has only the cursor", async () => {
    const bench = setUp({ pageSize: 1 });
    const claims = await threeClosedClaims(bench);
    await bench.clock.advance(30 * day);
    expect(await listed(bench, "?closedAfter=2026-11-01T00:00:00Z")).toEqual(claims);
    expect(await listed(bench, "?closedAfter=2026-11-03T00:00:00Z")).toEqual([]);
  });

  it("keep the first page's limit of 14 days while time passes", async () => {
    const bench = setUp({ pageSize: 1 });
    const claims = await threeClosedClaims(bench);
    await bench.clock.advance(14 * day);
    expect(await listed(bench, "", () => bench.clock.advance(1))).toEqual(claims);
  });
});
