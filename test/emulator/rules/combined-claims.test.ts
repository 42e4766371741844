import { expect, it } from "vitest";
import { placeOrder, problem, setUp } from "../support.ts";

const day = 86_400_000;

it("a package is not claimed as missing when an order in it was replaced with another order's shipment", async () => {
  const bench = setUp();
  const combined = { shippingKind: "combined", dropshipAddress: undefined };
  const [first, second] = [await placeOrder(bench, combined), await placeOrder(bench, combined)];
  const part = bench.emulator.ship(second, { lines: [{ index: 1, quantity: 1 }] });
  const rest = bench.emulator.ship([first, second]);
  await bench.clock.advance(10 * day);
  const missing = (shipmentReference: string) => bench.post("/claim-package-missing", { claim: { shipmentReference } });
  bench.emulator.reviewClaim((await missing(rest)).body.claim.reference, { decision: "replacement" });
  expect(problem(await missing(part))).toEqual({ status: 409, code: "order_already_replaced" });
});
