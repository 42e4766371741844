import { expect, it } from "vitest";
import { placeOrder, setUp } from "../support.ts";

it("the pages of the claim list keep the first page's limit of 14 days while time passes", async () => {
  const bench = setUp({ pageSize: 1 });
  const { clock, emulator, demo, get, post } = bench;
  const orderReference = await placeOrder(bench);
  const shipmentReference = emulator.ship(orderReference);
  const claimlines = [{ orderlineIndex: 1, quantity: 1, claimcategoryReference: demo.claimcategories.wrongItem }];
  const claims: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const filed = await post("/claim-item-issues", { claim: { shipmentReference, orderReference, claimlines } });
    const { reference } = filed.body.claim;
    await bench.send("POST", `/claims/${reference}/retract`);
    claims.unshift(reference);
  }
  await clock.advance(14 * 86_400_000);
  const listed: string[] = [];
  for (let next: string | null = ""; next !== null; await clock.advance(1)) {
    const { body } = await get(`/claims${next && `?cursor=${next}`}`);
    listed.push(...body.claims.map(({ reference }: { reference: string }) => reference));
    next = body.nextCursor;
  }
  expect(listed).toEqual(claims);
});
