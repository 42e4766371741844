import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { consume } from "../../support/pacing/consumer.ts";
import { sequence } from "../../support/pacing/sequence.ts";
import { createService } from "../../support/pacing/service.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";

const hour = 3_600_000;

const bucket = fc
  .record({ quota: fc.integer({ min: 1, max: 100 }), perSecond: fc.integer({ min: 1, max: 100 }) })
  .map(({ quota, perSecond }) => [quota, Math.ceil((quota / perSecond) * 1000)] as const);

const traffic = fc.record({ calls: fc.integer({ min: 0, max: 60 }), parallel: fc.integer({ min: 1, max: 40 }) });

/** The policies that each kind of call draws from, by specification 8. */
const kinds = {
  "orders.get": ["default"],
  "images.upload": ["default", "uploads"],
  "renders.media": ["default", "downloads"],
} as const;

describe("a pacer whose calls draw from different policies, against a model of the service's buckets", () => {
  it("is never refused, completes every call, and leaves no timer", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ default: bucket, uploads: bucket, downloads: bucket }),
        fc.record({ "orders.get": traffic, "images.upload": traffic, "renders.media": traffic }),
        fc.constantFrom("high", "normal", "low"),
        fc.integer({ min: 1, max: 1_000_000 }),
        async (limits, given, priority, seed) => {
          const clock = createTimeline();
          const service = createService(clock, limits);
          const pacer = new Pacer(clock);
          const random = sequence(seed);
          const outcomes = Object.entries(kinds).map(([call, policies]) =>
            consume({
              clock,
              pacer,
              ...given[call as keyof typeof kinds],
              call,
              priority: call === "orders.get" ? priority : "normal",
              serve: () => service.serve(policies),
              latency: () => [20 * random(), 20 * random()],
            }),
          );
          await clock.run(hour);
          expect(outcomes.map(({ refusals }) => refusals)).toEqual([0, 0, 0]);
          expect(outcomes.map(({ served }) => served.length)).toEqual(
            Object.keys(kinds).map((call) => given[call as keyof typeof kinds].calls),
          );
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });
});
