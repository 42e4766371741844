import { ApiError } from "pod-partner";
import { expect, it } from "vitest";
import { orderOf } from "../http/matrix/subjects.ts";
import { rejection } from "../support/exchange.ts";
import { behindEachGateway, expectNoKey, failuresOf, setUp } from "./setup.ts";

behindEachGateway((kind) => {
  it("each order is created once when the gateway refuses requests above its limit with 429", async () => {
    await using setup = await setUp(kind, { perSecond: 30, refusal: 429 });
    expect(failuresOf(await setup.place(40, 6))).toEqual([]);
    expect((await setup.made()).orders).toBe(40);
  });

  it("no order is created twice, and each missing one has an error, when the gateway refuses with 503", async () => {
    await using setup = await setUp(kind, { perSecond: 10, refusal: 503 });
    const outcomes = await setup.place(24, 6);
    const failures = failuresOf(outcomes);
    // The gateway refuses look-ups, too: some orders may stay undecided, but an error reports them.
    expect(failures.filter((failure) => !failure.startsWith("OutcomeUnknownError:"))).toEqual([]);
    const placed = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value.reference] : []));
    expect(new Set(placed).size).toBe(placed.length);
    const { orders } = await setup.made();
    expect(orders).toBeGreaterThanOrEqual(placed.length);
    expect(orders).toBeLessThanOrEqual(24);
  });

  it("a call fails with an error and creates nothing when the gateway refuses with 403", async () => {
    await using setup = await setUp(kind, { perSecond: 1, refusal: 403 });
    const outcomes = await setup.place(12, 12);
    const failures = failuresOf(outcomes);
    expect(new Set(failures.map((failure) => failure.split(":")[0]))).toEqual(new Set(["PermissionDeniedError"]));
    expect((await setup.made()).orders).toBe(outcomes.length - failures.length);
  });
});

behindEachGateway(
  (kind) => {
    it("a body that is too large for the gateway causes an error with its status", async () => {
      await using setup = await setUp(kind, { largestBody: 2_000 });
      const png = Uint8Array.from(
        { length: 5_000 },
        (_, at) => [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a][at] ?? 0,
      );
      const error = await rejection(setup.partner().images.upload(png));
      expect(error).toMatchObject({ name: ApiError.name, status: 413, isRetryable: false });
      expectNoKey(error);
      expect((await setup.partner().orders.create(orderOf(setup.emulator, "shop-1"))).recovered).toBe(false);
    });
  },
  { kinds: ["nginx"] },
);
