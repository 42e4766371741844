import { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import type { PauseEvent } from "../../../src/http/events.ts";
import { failing, fixedWindow, limiting, pass, slidingWindow } from "../../support/pacing/gateway.ts";
import { secretKey, useService } from "../../support/partner.ts";

const seeds = [7, 77, 777];

describe("a gateway that refuses requests above its limit", () => {
  it.each([
    ["30 a second, a burst of 10", 600, 30, 10, 19.7, 1.05, 130],
    ["10 a second, a burst of 5", 300, 10, 5, 29.4, 1.05, 130],
    ["30 a second, a burst of 20", 600, 30, 20, 19.3, 1.05, 150],
    ["30 a second, no burst", 600, 30, 0, 20, 1.3, 130],
    ["2 a second, a burst of 5", 60, 2, 5, 27.5, 1.2, 130],
  ])("receives few more requests than it accepts: %s", async (_, calls, perSecond, burst, ideal, times, most) => {
    for (const seed of seeds) {
      const { took, refused, failed, pending } = await pass(
        limiting(() => perSecond, burst),
        { calls, seed },
      );
      expect(took).toBeLessThan(times * ideal * 1_000);
      expect(refused).toBeLessThan(most);
      expect(failed).toBeLessThan(0.05 * calls);
      expect(pending).toBe(0);
    }
  });

  it.each([
    ["is 50 ms away", { latency: [25, 25] as const }, 1.05],
    ["is in front of a service that takes a second", { work: 1_000 }, 1.15],
    ["receives a third too much, from 8 at a time", { work: 200, parallel: 8 }, 1.1],
    ["refuses with 429", { status: 429 as const }, 1.25],
  ])("receives few more requests than it accepts when it %s", async (_, passage, times) => {
    const gateway = limiting(() => 30, 10);
    const { served, took, refused, failed } = await pass(gateway, { calls: 600, ...passage });
    expect([served.length, failed]).toEqual([600, 0]);
    expect(took).toBeLessThan(times * 19_700);
    expect(refused).toBeLessThan(130);
  });

  it.each([
    ["the last second: 10, for 40 calls", () => slidingWindow(10), { calls: 40, work: 60 }, 5_500, 60],
    ["the last second: 30, for 600 calls", () => slidingWindow(30), { calls: 600 }, 22_000, 150],
    ["the last second: 30, 50 ms away", () => slidingWindow(30), { calls: 600, latency: [25, 25] }, 22_000, 150],
    ["each second: 10", (seed: number) => fixedWindow(10, seed), { calls: 300 }, 32_000, 130],
    ["each second: 30", (seed: number) => fixedWindow(30, seed), { calls: 600 }, 25_000, 200],
    ["each second: 100", (seed: number) => fixedWindow(100, seed), { calls: 1_500, parallel: 32 }, 20_000, 230],
  ] as const)(
    "receives few more requests than it accepts when it counts those of %s",
    async (_, start, passage, most, many) => {
      for (const seed of seeds) {
        const { took, refused, failed } = await pass(start(seed), { ...passage, seed });
        expect(took).toBeLessThan(most);
        expect(refused).toBeLessThan(many);
        expect(failed).toBeLessThan(0.005 * passage.calls);
      }
    },
  );

  it("is followed when it lowers or raises its limit", async () => {
    const perSecond = (now: number) => (now < 15_000 ? 30 : now < 30_000 ? 10 : 100);
    const { served, refused } = await pass(limiting(perSecond, 5), { calls: 1_500 });
    const within = (from: number, to: number) =>
      served.filter((at) => at >= from && at < to).length / ((to - from) / 1_000);
    expect(within(5_000, 15_000)).toBeGreaterThan(27);
    expect(within(20_000, 30_000)).toBeGreaterThan(8);
    expect(within(35_000, 40_000)).toBeGreaterThan(60);
    expect(refused).toBeLessThan(200);
  });
});

describe("a service that refuses requests at random, whatever their rate", () => {
  it.each([
    [2.5, "600 at once", { calls: 600 }],
    [2.5, "3,000 at once", { calls: 3_000 }],
    [5, "600 at once", { calls: 600 }],
    [10, "300, 32 at a time", { calls: 300, parallel: 32 }],
    [20, "600 at once", { calls: 600 }],
    [20, "300, 32 at a time", { calls: 300, parallel: 32 }],
    [20, "300 of a second each", { calls: 300, parallel: 32, work: 1_000 }],
    [40, "300, 32 at a time", { calls: 300, parallel: 32 }],
  ])("does not make the client three times slower: %d %%, %s", async (percent, _, passage) => {
    let [paced, unpaced] = [0, 0];
    for (const seed of seeds) {
      const times = { ...passage, seed };
      paced += (await pass(failing(percent / 100, seed * 13), times)).took;
      unpaced += (await pass(failing(percent / 100, seed * 13), { ...times, paced: false })).took;
    }
    expect(paced).toBeLessThan(3 * unpaced);
  });

  it.each([
    [35, "3,000 of 250 ms each", { calls: 3_000, parallel: 100, work: 250 }],
    [20, "2,000 of 700 ms each", { calls: 2_000, parallel: 100, work: 700 }],
  ])(
    "is not called at a low rate for long when successes take longer than refusals: %d %%, %s",
    async (percent, _, passage) => {
      let [paced, unpaced] = [0, 0];
      for (const seed of seeds) {
        const times = { ...passage, seed };
        paced += (await pass(failing(percent / 100, seed * 13), times)).took;
        unpaced += (await pass(failing(percent / 100, seed * 13), { ...times, paced: false })).took;
      }
      expect(paced).toBeLessThan(1.6 * unpaced);
    },
  );

  it("is called at full speed again as soon as an outage of five seconds is over", async () => {
    const down = (now: number) => now < 1_000 || now >= 6_000;
    const passage = { calls: 4_000, parallel: 32, work: 20 };
    const recovered = ({ served }: { readonly served: readonly number[] }) =>
      served.filter((at) => at >= 6_000).toSorted((one, other) => one - other)[500] ?? Number.NaN;
    const paced = recovered(await pass(down, passage));
    expect(paced - recovered(await pass(down, { ...passage, paced: false }))).toBeLessThan(2_000);
  });
});

describe("calls that a gateway refuses with 503", () => {
  const context = useService();

  function connect(retries = 4) {
    const pauses: PauseEvent[] = [];
    const hooks = { onPause: (event: PauseEvent) => void pauses.push(event) };
    const { baseUrl } = context.service;
    const retry = { retries, baseDelay: 1, maxDelay: 5 };
    return { pauses, partner: new PodPartner({ baseUrl, secretKey, hooks, retry }) };
  }
  const valid = { body: { message: "ok" } };
  const html = { status: 503, headers: { "content-type": "text/html" }, body: "<h1>503</h1>" };

  it("are not slowed down by single refusals, with or without `Retry-After`", async () => {
    const { partner, pauses } = connect();
    context.service.respond(valid, html, valid, { ...html, headers: { ...html.headers, "retry-after": "0" } });
    context.service.respondAlways(valid);
    for (let call = 0; call < 3; call += 1) await partner.auth.validate();
    expect([pauses, partner.rateLimits.estimate(100)]).toEqual([[], 0]);
  });

  it("are reported by `onPause`, and do not spend the client's retry budget: refusals of a limit are not an outage", async () => {
    const { partner, pauses } = connect(20);
    const gateway = limiting(() => 200, 0);
    context.service.respondAlways(() => (gateway(performance.now()) ? valid : html));
    const outcomes = await Promise.allSettled(Array.from({ length: 300 }, () => partner.auth.validate()));
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
    expect(pauses).toContainEqual({
      callId: expect.any(String),
      endpoint: "POST /auth/validate",
      reason: "gateway-limit",
      policy: "default",
      length: expect.any(Number),
    });
  });
});
