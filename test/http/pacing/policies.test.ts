import fc from "fast-check";
import { DeadlineError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import type { Wait } from "../../../src/http/pacing/wait.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { rejection } from "../../support/exchange.ts";
import { consume } from "../../support/pacing/consumer.ts";
import { createService, type Limits } from "../../support/pacing/service.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";
import { partnerWith } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";

const get = endpointOf("orders.get");
const upload = endpointOf("images.upload");

describe("changing policies", () => {
  it("are learned when a response names a new one, for the endpoint of that response", () => {
    const pacer = new Pacer(createTimeline());
    const headers = new Headers({
      "x-ratelimit-policy": '"default";q=300;w=6, "burst";q=2;w=1',
      "x-ratelimit": '"default";r=299;t=0, "burst";r=0;t=1',
    });
    pacer.observe(get, pacer.takeAnyway(get), headers);
    expect(pacer.rateLimits().policies.burst).toMatchObject({ quota: 2, window: 1_000, remaining: 0 });
    expect(pacer.tryAcquire(get)).toBeUndefined();
    expect(pacer.tryAcquire(endpointOf("orders.list"))).toBeDefined();
  });

  it("are forgotten when the responses no longer name them", () => {
    const pacer = new Pacer(createTimeline());
    const respond = (policies: string, levels: string) =>
      pacer.observe(
        upload,
        pacer.takeAnyway(upload),
        new Headers({ "x-ratelimit-policy": policies, "x-ratelimit": levels }),
      );
    respond('"default";q=300;w=6, "uploads";q=5;w=86400', '"default";r=299;t=0, "uploads";r=0;t=17');
    expect(pacer.tryAcquire(upload)).toBeUndefined();
    respond('"default";q=300;w=6', '"default";r=298;t=0');
    expect(pacer.tryAcquire(upload)).toBeDefined();
  });

  it("with a smaller quota hold back a burst at once, and do not look like other clients", async () => {
    const clock = createTimeline();
    const service = createService(clock, { default: [300, 6_000] });
    const pauses: Wait[] = [];
    const traffic = {
      clock,
      pacer: new Pacer(clock),
      serve: () => service.serve(["default"]),
      latency: () => [50, 50] as const,
      report: (wait: Wait) => void pauses.push(wait),
    };
    const before = consume({ ...traffic, calls: 30, parallel: 1 });
    await clock.run(2_000);
    const inFlight = consume({ ...traffic, calls: 8, parallel: 8 });
    // Before the service receives them.
    clock.after(20, () => service.resize("default", 20, 1_000));
    await clock.run(2_120);
    const burst = consume({ ...traffic, calls: 100, parallel: 100 });
    await clock.run(60_000);
    expect([before, inFlight, burst].map(({ served, refusals }) => [served.length, refusals])).toEqual([
      [30, 0],
      [8, 0],
      [100, 0],
    ]);
    expect(new Set(pauses.map(({ reason }) => reason))).toEqual(new Set(["bucket-empty"]));
    expect(Math.max(...burst.served.map(({ took }) => took))).toBeLessThan(5_500);
  });

  it("with a smaller quota report the tokens that the service has left", () => {
    const pacer = new Pacer(createTimeline());
    const respond = (policy: string, level: string) =>
      pacer.observe(get, pacer.takeAnyway(get), new Headers({ "x-ratelimit-policy": policy, "x-ratelimit": level }));
    respond('"default";q=3000;w=60', '"default";r=2999;t=0');
    respond('"default";q=10;w=60', '"default";r=2;t=0');
    const { quota, remaining } = pacer.rateLimits().policies.default ?? {};
    expect(quota).toBe(10);
    expect(remaining).toBeLessThanOrEqual(3);
  });

  /** A service whose policies have other names, which may change: calls draw from them anyway. */
  function renaming(limits: Limits, nameOf: (policy: string, served: number) => string) {
    const clock = createTimeline();
    const service = createService(clock, limits);
    let served = 0;
    const serve = (policies: readonly string[]) => {
      const response = service.serve(policies);
      served += 1;
      for (const name of ["x-ratelimit", "x-ratelimit-policy"]) {
        const text = response.headers.get(name) ?? "";
        const renamed = text.replace(/"(\w+)"/g, (_, policy: string) => `"${nameOf(policy, served)}"`);
        response.headers.set(name, renamed);
      }
      return response;
    };
    const pacer = new Pacer(clock);
    const traffic = { clock, pacer, calls: 60, parallel: 60, latency: () => [5, 5] as const };
    return { clock, pacer, serve, traffic };
  }

  it.each([
    ["from the start", () => "std"],
    ["in the middle", (_: string, served: number) => (served < 20 ? "default" : "std")],
    ["and back to the first name", (_: string, served: number) => (served % 20 < 10 ? "default" : "std")],
  ])("keep pacing under another name, without a refusal: %s", async (_, nameOf) => {
    const { clock, pacer, serve, traffic } = renaming({ default: [10, 2_000] }, nameOf);
    const outcome = consume({ ...traffic, serve: () => serve(["default"]) });
    await clock.run(60_000);
    expect(outcome.served).toHaveLength(60);
    expect(outcome.refusals).toBe(0);
    expect(Object.keys(pacer.rateLimits().policies)).toEqual(["default", "uploads", "downloads"]);
  });

  it("keep pacing when all of them are renamed: their quotas identify them", async () => {
    const limits = { default: [3000, 60_000], uploads: [5000, 86_400_000] } as const;
    const { clock, pacer, serve, traffic } = renaming(limits, (policy) => `new_${policy}`);
    const outcome = consume({ ...traffic, serve: () => serve(["default", "uploads"]), call: "images.upload" });
    await clock.run(1_000);
    expect(outcome.served).toHaveLength(60);
    expect(Object.keys(pacer.rateLimits().policies)).toEqual(["default", "uploads", "downloads"]);
    expect(pacer.rateLimits().policies.uploads?.remaining).toBe(4_940);
  });

  it("keep pacing when one is renamed, and each response names those of other routes, too", async () => {
    const limits = { default: [10, 2_000], uploads: [5_000, 86_400_000], downloads: [100_000, 86_400_000] } as const;
    const { clock, serve, traffic } = renaming(limits, (policy) => (policy === "default" ? "std" : policy));
    const outcome = consume({ ...traffic, serve: () => serve(Object.keys(limits)) });
    await clock.run(60_000);
    expect(outcome.served).toHaveLength(60);
    expect(outcome.refusals).toBe(0);
  });

  it("are learned by calls that already wait", async () => {
    const clock = createTimeline();
    const service = createService(clock, { default: [300, 6_000], burst: [2, 1_000] });
    const outcome = consume({
      clock,
      pacer: new Pacer(clock),
      serve: () => service.serve(["default", "burst"]),
      calls: 30,
      parallel: 30,
      latency: () => [5, 5],
    });
    await clock.run(60_000);
    expect(outcome.served).toHaveLength(30);
    expect(outcome.refusals).toBe(0);
  });

  it("never stop the calls when they are renamed, dropped and added at any time", async () => {
    const names = fc.subarray(["default", "uploads", "media", "other"], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(names, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 20 }),
        async (named, every) => {
          const clock = createTimeline();
          const policies = {
            default: [20, 1_000],
            uploads: [20, 1_000],
            media: [20, 1_000],
            other: [20, 1_000],
          } as const;
          const service = createService(clock, policies);
          let served = 0;
          const outcome = consume({
            clock,
            pacer: new Pacer(clock),
            serve: () => service.serve(named[Math.floor(served++ / every) % named.length] ?? ["default"]),
            calls: 100,
            parallel: 10,
            latency: () => [5, 5],
            call: "images.upload",
          });
          await clock.run(600_000);
          expect(outcome.served).toHaveLength(100);
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("a 429 whose Retry-After is too long to wait for", () => {
  const partner = (retryAfter: string) =>
    partnerWith({
      clock: createTimeline(),
      fetch: async () =>
        Response.json(
          { code: "rate_limited", message: "Wait." },
          { status: 429, headers: { "retry-after": retryAfter } },
        ),
    });

  it("fails at once when the call's deadline is earlier", async () => {
    const error = await rejection(partner("60").orders.get(ref("Order"), { deadline: 5_000 }));
    if (!DeadlineError.isInstance(error)) throw error;
    expect(error.message).toMatch(
      /^The call's deadline of 5000 ms is 5000 ms away: the rate limit's Retry-After takes 60000 ms\./,
    );
    expect(error.cause).toMatchObject({ name: "RateLimitError", retryAfter: 60_000 });
  });
});

describe("a policy under a new name is followed only if it can be one policy", () => {
  it.each([
    ["two new names with the same quota", get, ["a;q=3000;w=60", "b;q=3000;w=60"], ["a", "b"]],
    ["two policies without a name, and one of another quota", upload, ["a;q=7;w=60"], ["a"]],
    ["one policy and one name of another quota", get, ["a;q=7;w=60"], []],
  ])("%s", (_, route, policies, added) => {
    const pacer = new Pacer(createTimeline());
    pacer.observe(route, pacer.takeAnyway(route), new Headers({ "x-ratelimit-policy": policies.join() }));
    expect(Object.keys(pacer.rateLimits().policies)).toEqual(["default", "uploads", "downloads", ...added]);
  });
});
