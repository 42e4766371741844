import { describe, expect, it } from "vitest";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import type { PauseReason } from "../../../src/http/pacing/wait.ts";
import { consume } from "../../support/pacing/consumer.ts";
import { createService } from "../../support/pacing/service.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";

type Size = readonly [quota: number, window: number];

/** What a service does with the tokens in a bucket when it changes the size: keeps them, keeps those that were used, or keeps the part. */
const keeps = {
  tokens: () => Number.POSITIVE_INFINITY,
  used: (level: number, [before]: Size, [after]: Size) => after - (before - level),
  part: (level: number, [before]: Size, [after]: Size) => (level * after) / before,
};

interface Change {
  readonly before: Size;
  readonly after: Size;
  readonly kept: keyof typeof keeps;
  /** Requests that were sent before the change. */
  readonly used: number;
  /** Calls in flight at the time of the change. */
  readonly traffic: number;
  /** Milliseconds from the change to the estimate. */
  readonly later: number;
}

/** Estimates 200 calls after a change of the bucket, then makes them. Nobody else uses it. */
async function estimateAfter({ before, after, kept, used, traffic, later }: Change) {
  const clock = createTimeline(1_000_000);
  const pacer = new Pacer(clock);
  const service = createService(clock, { default: before });
  const reasons = new Set<PauseReason>();
  const report = ({ reason }: { readonly reason: PauseReason }) => void reasons.add(reason);
  const serve = () => service.serve(["default"]);
  const make = (calls: number, parallel: number) =>
    consume({ clock, pacer, serve, calls, parallel, latency: () => [10, 10], report });
  make(used, 16);
  await clock.run(clock.now() + 3_000);
  make(4 * traffic, traffic);
  await clock.run(clock.now() + 30);
  const level = service.level("default");
  service.resize("default", ...after);
  service.drain("default", Math.max(0, service.level("default") - Math.max(0, keeps[kept](level, before, after))));
  await clock.run(clock.now() + later);
  const limits = pacer.rateLimits();
  const estimate = limits.estimate(200);
  const { reason } = limits.policies.default ?? {};
  if (reason !== undefined) reasons.add(reason);
  const began = clock.now();
  const calls = make(200, 200);
  await clock.run(began + 1_000_000);
  const took = Math.max(...calls.served.map(({ at }) => at)) - began;
  return { estimate, took, served: calls.served.length, reasons };
}

const changes: readonly (readonly [what: string, before: Size, after: Size])[] = [
  ["a tenth of the quota", [3_000, 60_000], [300, 60_000]],
  ["a third of the quota", [900, 60_000], [300, 60_000]],
  ["a much longer window", [300, 6_000], [300, 60_000]],
  ["ten times the quota", [300, 60_000], [3_000, 60_000]],
  ["a much shorter window", [300, 60_000], [300, 6_000]],
  ["another quota and window at the same rate", [1_000, 20_000], [100, 2_000]],
];

describe("the estimate of 200 calls after the service changes a bucket to", () => {
  it.each(changes)("%s is right, and no other client is assumed", async (_, before, after) => {
    const wrong: unknown[] = [];
    for (const kept of ["tokens", "used", "part"] as const)
      for (const part of [0.02, 0.5, 0.95])
        for (const traffic of [1, 8])
          for (const later of [90, 2_000]) {
            const change = { before, after, kept, used: Math.round(before[0] * part), traffic, later };
            const { estimate, took, served, reasons } = await estimateAfter(change);
            // A second for the slow start and the probe, a token for each request in flight at the change, and a fifth.
            const tolerance = 1_100 + traffic * (after[1] / after[0]) + 0.2 * took;
            const isRight = Math.abs(estimate - took) <= tolerance;
            if (!isRight || served < 200 || reasons.has("fair-share"))
              wrong.push({
                ...change,
                estimate: Math.round(estimate),
                took: Math.round(took),
                served,
                reasons: [...reasons],
              });
          }
    expect(wrong).toEqual([]);
  });
});
