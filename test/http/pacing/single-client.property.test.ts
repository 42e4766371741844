import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { consume } from "../../support/pacing/consumer.ts";
import { sequence } from "../../support/pacing/sequence.ts";
import { createService, type Service } from "../../support/pacing/service.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";

const hour = 3_600_000;

/** A bucket of a few to a few hundred tokens that refills at 1 to 200 tokens a second. */
const bucket = fc
  .record({ quota: fc.integer({ min: 1, max: 300 }), perSecond: fc.integer({ min: 1, max: 200 }) })
  .map(({ quota, perSecond }) => ({ quota, window: Math.ceil((quota / perSecond) * 1000) }));

/** Milliseconds in each direction, and the largest difference between the delays of two requests. */
const latency = fc.record({
  going: fc.integer({ min: 0, max: 300 }),
  coming: fc.integer({ min: 0, max: 300 }),
  jitter: fc.integer({ min: 0, max: 20 }),
});

const traffic = fc.record({
  bucket,
  latency,
  calls: fc.integer({ min: 1, max: 150 }),
  parallel: fc.integer({ min: 1, max: 80 }),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
});

type Traffic = typeof traffic extends fc.Arbitrary<infer Value> ? Value : never;

async function run(given: Traffic, disturb: (service: Service) => Service = (service) => service) {
  const clock = createTimeline();
  const service = disturb(createService(clock, { default: [given.bucket.quota, given.bucket.window] }));
  const pacer = new Pacer(clock);
  const random = sequence(given.seed);
  const { going, coming, jitter } = given.latency;
  const outcome = consume({
    clock,
    pacer,
    serve: () => service.serve(["default"]),
    calls: given.calls,
    parallel: given.parallel,
    latency: () => [going + jitter * random(), coming + jitter * random()],
  });
  await clock.run(hour);
  return { outcome, clock, pacer };
}

describe("a single pacer, against a model of the service's bucket", () => {
  it("is never refused, completes every call, and leaves no timer", async () => {
    await fc.assert(
      fc.asyncProperty(traffic, async (given) => {
        const { outcome, clock } = await run(given);
        expect(outcome.refusals).toBe(0);
        expect(outcome.served).toHaveLength(given.calls);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  it("never stalls: all calls complete soon after the bucket could have given the tokens", async () => {
    await fc.assert(
      fc.asyncProperty(traffic, async (given) => {
        const { quota, window } = given.bucket;
        const { going, coming, jitter } = given.latency;
        const { outcome } = await run(given);
        const roundTrip = going + coming + 2 * jitter;
        const refilling = (Math.max(0, given.calls - quota) * window) / quota;
        // When more requests are in transit than the bucket holds, the client must assume that it does not refill meanwhile.
        const roundTrips = (given.calls / Math.min(given.parallel, Math.max(1, quota / 4)) + 12) * roundTrip;
        const last = Math.max(...outcome.served.map(({ at }) => at));
        expect(last).toBeLessThan(1.3 * refilling + roundTrips + (30 * window) / quota + 3_000);
      }),
      { numRuns: 150 },
    );
  });
});

/** What a service or a proxy may do to the headers of a response. */
const faults: readonly ((headers: Headers) => void)[] = [
  (headers) => headers.delete("x-ratelimit"),
  (headers) => headers.delete("x-ratelimit-policy"),
  (headers) => headers.set("x-ratelimit-policy", '"default";q=0;w=60'),
  (headers) => headers.set("x-ratelimit-policy", '"default";q=10;w=0'),
  (headers) => headers.set("x-ratelimit-policy", "a lot"),
  (headers) => headers.set("x-ratelimit", '"default";r=1000000000000000;t=1000000000000000'),
  (headers) => headers.set("x-ratelimit", '"default";r=3.5;t=0'),
  (headers) => headers.set("x-ratelimit", '"other";r=5;t=0'),
  (headers) => headers.set("x-ratelimit", "{;;"),
];

describe("a pacer that gets responses with faulty headers", () => {
  it("completes every call, and leaves no timer", async () => {
    await fc.assert(
      fc.asyncProperty(traffic, fc.integer({ min: 1, max: 5 }), async (given, seldom) => {
        const random = sequence(given.seed + 1);
        const { outcome, clock } = await run(given, (service) => ({
          ...service,
          serve: (policies) => {
            const served = service.serve(policies);
            if (random() < 1 / seldom) faults[Math.floor(random() * faults.length)]?.(served.headers);
            return served;
          },
        }));
        expect(outcome.served).toHaveLength(given.calls);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  it("follows a quota and a window that change while it runs", async () => {
    await fc.assert(
      fc.asyncProperty(traffic, bucket, fc.integer({ min: 1, max: 100 }), async (given, other, after) => {
        let served = 0;
        const { outcome, pacer, clock } = await run(given, (service) => ({
          ...service,
          serve: (policies) => {
            served += 1;
            if (served === after) service.resize("default", other.quota, other.window);
            return service.serve(policies);
          },
        }));
        expect(outcome.served).toHaveLength(given.calls);
        expect(clock.pending).toBe(0);
        if (served > after + given.parallel) expect(pacer.rateLimits().policies.default?.quota).toBe(other.quota);
      }),
      { numRuns: 100 },
    );
  });
});
