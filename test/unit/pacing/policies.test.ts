import fc from "fast-check";
import { DeadlineError, PodPartner, RateLimitError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { rejection } from "../../support/exchange.ts";
import { consume, endpointOf } from "../../support/pacing/consumer.ts";
import { createService } from "../../support/pacing/service.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";
import { ref } from "../../support/references.ts";

const get = endpointOf("orders.get");
const upload = endpointOf("images.upload");

describe("policies that come and go", () => {
  it("are learned when an answer names a new one, for the endpoint that it came for", () => {
    const pacer = new Pacer(createTimeline());
    const headers = new Headers({
      "x-ratelimit-policy": '"default";q=300;w=6, "burst";q=2;w=1',
      "x-ratelimit": '"default";r=299;t=0, "burst";r=0;t=1',
    });
    pacer.observe(get, pacer.takeAnyway(get), headers);
    expect(pacer.snapshot().burst).toMatchObject({ quota: 2, window: 1_000, remaining: 0 });
    expect(pacer.tryAcquire(get)).toBeUndefined();
    expect(pacer.tryAcquire(endpointOf("orders.list"))).toBeDefined();
  });

  it("limit nothing any more when the answers stop naming them", () => {
    const pacer = new Pacer(createTimeline());
    const answer = (policies: string, levels: string) =>
      pacer.observe(
        upload,
        pacer.takeAnyway(upload),
        new Headers({ "x-ratelimit-policy": policies, "x-ratelimit": levels }),
      );
    answer('"default";q=300;w=6, "uploads";q=5;w=86400', '"default";r=299;t=0, "uploads";r=0;t=17');
    expect(pacer.tryAcquire(upload)).toBeUndefined();
    answer('"default";q=300;w=6', '"default";r=298;t=0');
    expect(pacer.tryAcquire(upload)).toBeDefined();
  });

  it("never stop the calls: renamed, dropped and added at any time", async () => {
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
          expect(outcome.answered).toHaveLength(100);
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("a 429 whose Retry-After cannot be waited for", () => {
  const partner = (retryAfter: string) =>
    new PodPartner({
      baseUrl: "https://partner.example/v2",
      secretKey: "key",
      clock: createTimeline(),
      fetch: async () =>
        Response.json(
          { code: "rate_limited", message: "Wait." },
          { status: 429, headers: { "retry-after": retryAfter } },
        ),
    });

  it("fails at once when the call's deadline comes first", async () => {
    const error = await rejection(partner("60").orders.get(ref("Order"), { deadline: 5_000 }));
    expect(DeadlineError.isInstance(error)).toBe(true);
  });

  it("fails at once when it is longer than the options allow", async () => {
    const error = await rejection(partner("121").orders.get(ref("Order")));
    expect(RateLimitError.isInstance(error)).toBe(true);
  });
});
