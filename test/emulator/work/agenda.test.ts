import { createManualClock } from "pod-partner/testing";
import { expect, it } from "vitest";
import { placeOrder, problem, setUp } from "../support.ts";

it("one jump of the clock passes the weekly resets of two weeks", async () => {
  const { emulator, get } = setUp({ clock: createManualClock("2026-10-20T00:00:00Z") });
  expect((await get("/rendertokens")).body.rendertokens.resets).toBe("2026-10-26T00:00:00+01:00");
  await emulator.clock.advance({ days: 14 });
  expect((await get("/rendertokens")).body.rendertokens.resets).toBe("2026-11-09T00:00:00+01:00");
});

it("a package-missing claim is refused with the code of a warranty that a jump of the clock has ended", async () => {
  const bench = setUp();
  const claim = { shipmentReference: bench.emulator.ship(await placeOrder(bench)) };
  await bench.emulator.clock.advance({ days: 100, seconds: 1 });
  expect(problem(await bench.post("/claim-package-missing", { claim })).code).toBe("warranty_expired");
});
