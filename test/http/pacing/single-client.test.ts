import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FairShare } from "../../../src/http/pacing/fair-share.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import type { PartnerClock } from "../../../src/util/clock.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { consume, type Latency } from "../../support/pacing/consumer.ts";
import { sequence } from "../../support/pacing/sequence.ts";
import { createService } from "../../support/pacing/service.ts";
import { createTimeline, type Timeline } from "../../support/pacing/timeline.ts";

interface Setting {
  readonly quota: number;
  readonly calls: number;
  readonly parallel: number;
  readonly latency: (clock: PartnerClock) => Latency;
  /** How long the simulation runs, in milliseconds. */
  readonly until: number;
  /** The client's clock, derived from the service's. */
  readonly own?: (clock: Timeline) => PartnerClock;
}

/** One client without other clients, at 50 tokens a second. */
async function run({ quota, calls, parallel, latency, until, own = (clock) => clock }: Setting) {
  const clock = createTimeline();
  const service = createService(clock, { default: [quota, quota * 20] });
  const assumed = vi.spyOn(FairShare.prototype, "notice");
  const serve = () => service.serve(["default"]);
  const pacer = new Pacer(own(clock));
  const { served, refusals } = consume({ clock, pacer, serve, calls, parallel, latency: latency(clock) });
  await clock.run(until);
  const seconds = Math.max(...served.map(({ at }) => at)) / 1000;
  return { served: served.length, refusals, seconds, assumed: assumed.mock.calls.length };
}

const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

describe("a single client never assumes other clients", () => {
  beforeEach(() => {
    vi.spyOn(Math, "random").mockImplementation(sequence(11));
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each(seeds)("when responses overtake each other, and uses the whole bucket: %i", async (seed) => {
    const random = sequence(seed * 7919);
    const jitter = () => 1 + 4 * random();
    const latency = () => () => [jitter(), jitter()] as const;
    const result = await run({ quota: 300, calls: 1300, parallel: 64, latency, until: 60_000 });
    expect(result).toMatchObject({ served: 1300, refusals: 0, assumed: 0 });
    expect(result.seconds).toBeLessThanOrEqual(20 * 1.02);
  });

  /** From 8 s to 10.5 s no request reaches the service, or no response comes back. */
  const stalls = (["in order", "out of order", "on the way back"] as const).flatMap((how) =>
    seeds.map((seed) => [how, seed] as const),
  );
  it.each(stalls)("after a stall of 2.5 s that ends %s, and gets no 429: %i", async (how, seed) => {
    const random = sequence(seed * 104_729);
    const jitter = () => 1 + 4 * random();
    const late = (at: number) => (at >= 8_000 && at < 10_500 ? 10_500 - at : 0);
    const latency = (clock: PartnerClock) => () => {
      const [going, coming] = [jitter(), jitter()];
      const arrival = clock.now() + going;
      if (how === "on the way back") return [going, coming + late(arrival + coming) + 5 * random()] as const;
      const stalled = late(arrival);
      return [going + stalled + (how === "out of order" && stalled > 0 ? 20 * random() : 0), coming] as const;
    };
    const result = await run({ quota: 100, calls: 3_000, parallel: 3_000, latency, until: 28_000 });
    expect(result).toMatchObject({ refusals: 0, assumed: 0 });
    // 100 tokens, then 50 a second, without those that the full bucket loses during half a second of the stall.
    expect(result.served).toBeGreaterThan(0.98 * (100 + 27.5 * 50));
  });

  it("when its clock is 0.02 % faster than the service's", async () => {
    const own = (clock: Timeline): PartnerClock => ({
      now: () => clock.now() * 1.0002,
      after: (ms, callback) => clock.after(ms / 1.0002, callback),
    });
    const latency = () => () => [2, 2] as const;
    const result = await run({ quota: 100, calls: 15_000, parallel: 64, latency, until: 400_000, own });
    expect(result).toMatchObject({ served: 15_000, refusals: 0, assumed: 0 });
  });
});

describe("a call that was aborted while its request was on its way", () => {
  const get = endpointOf("orders.get");

  it("has taken its token, although the service counts it after a request that was sent before", async () => {
    const clock = createTimeline();
    const service = createService(clock, { default: [20, 20_000] });
    const pacer = new Pacer(clock);
    const calls = { clock, pacer, serve: () => service.serve(["default"]), latency: () => [5, 5] as const };
    consume({ ...calls, calls: 14, parallel: 1 });
    await clock.run(200);

    const grants = [1, 2, 3, 4].map(() => pacer.tryAcquire(get));
    const [answered, ...aborted] = grants.filter((grant) => grant !== undefined);
    expect(aborted).toHaveLength(3);
    const { headers } = service.serve(["default"]);
    await clock.run(210);
    for (const grant of aborted) {
      pacer.forget(grant);
      service.serve(["default"]);
    }
    if (answered !== undefined) pacer.observe(get, answered, headers);

    const outcome = consume({ ...calls, calls: 10, parallel: 10 });
    await clock.run(20_000);
    expect(outcome.served).toHaveLength(10);
    expect(outcome.refusals).toBe(0);
  });
});
