import { describe, expect, it } from "vitest";
import { Bucket } from "../../../src/http/pacing/bucket.ts";

describe("a bucket", () => {
  it.each([
    [10, 30_000, 60_000],
    [9, 30_000, 30_000],
    [10, 30_001, 30_001],
  ])("of %i tokens, one in %i ms, gives one token more than it has after %i ms", (quota, interval, ms) => {
    const bucket = new Bucket(quota, quota * interval, 0);
    expect(bucket.until(quota + 1, 0)).toBe(ms);
  });

  it("refills while nothing is asked of it", () => {
    const bucket = new Bucket(1, 1_000, 0);
    bucket.forget(bucket.take(0), 0, "lost");
    // The service's clock may be slower by a thousandth.
    expect(bucket.distance(500)).toBeCloseTo(500.5);
  });

  it("takes the shortest round trip for the usual one, and lets it grow slowly", () => {
    const bucket = new Bucket(100, 100_000, 0);
    const roundTripAfter = (took: number) => {
      bucket.observe(bucket.take(0), undefined, took);
      return bucket.roundTrip;
    };
    expect([roundTripAfter(100), roundTripAfter(40), roundTripAfter(200)]).toEqual([100, 40, expect.closeTo(40.2)]);
  });

  it("stays held after the response to a request from before the hold, until one from after it has a response", () => {
    const bucket = new Bucket(100, 100_000, 0);
    const report = { quota: 100, window: 100_000, remaining: 90, empty: false };
    const [refused, earlier] = [bucket.take(0), bucket.take(0)];
    bucket.observe(refused, report, 10);
    bucket.hold(60_000, 10, true);
    bucket.observe(earlier, report, 20);
    expect(bucket.wait(20)).toEqual({ ms: 59_980, reason: "rate-limited" });
    bucket.observe(bucket.take(30), report, 40);
    expect(bucket.wait(40)?.reason).not.toBe("rate-limited");
  });
});
