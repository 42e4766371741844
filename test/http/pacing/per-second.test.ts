import { createManualClock } from "pod-partner/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CancelScope } from "../../../src/http/cancel-scope.ts";
import type { PauseEvent } from "../../../src/http/events.ts";
import type { CeilingLimit } from "../../../src/http/pacing/ceiling.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { consume } from "../../support/pacing/consumer.ts";
import { createService } from "../../support/pacing/service.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";
import { partnerWith } from "../../support/partner.ts";
import { settle } from "../../support/settle.ts";

const get = endpointOf("orders.get");
const headers = new Headers({ "x-ratelimit-policy": '"default";q=3000;w=60', "x-ratelimit": '"default";r=2900;t=0' });

/** The most requests in any window of this many milliseconds. */
function mostWithin(times: readonly number[], window: number): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + window).length));
}

describe("a ceiling set by the partner", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_700_000_000_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function start(ceiling: CeilingLimit) {
    const pacer = new Pacer(systemClock, { ceiling });
    const began = systemClock.now();
    const sent: { readonly name: string; readonly at: number }[] = [];
    const call = (name: string, priority: "high" | "normal" = "normal", signal?: AbortSignal) =>
      pacer.acquire(get, priority, new CancelScope(systemClock, signal, undefined)).then(
        (grant) => {
          sent.push({ name, at: systemClock.now() - began });
          pacer.observe(get, grant, headers);
        },
        () => undefined,
      );
    return { pacer, sent, call, times: () => sent.map(({ at }) => at) };
  }

  it.each([
    { perSecond: 20, burst: 5, calls: 100 },
    { perSecond: 30, burst: 30, calls: 300 },
    { perSecond: 20, burst: 1, calls: 60 },
    { perSecond: 0.5, burst: 1, calls: 5 },
    { perSecond: 2.5, burst: 2, calls: 20 },
    { perSecond: 500, burst: 500, calls: 2_500 },
    { perSecond: 500, burst: 1, calls: 500 },
  ])("sends $calls calls at $perSecond per second, with bursts of $burst, and never more", async (given) => {
    const { perSecond, burst, calls } = given;
    const { call, times } = start({ perSecond, burst });
    for (let index = 0; index < calls; index += 1) void call(String(index));
    await vi.advanceTimersByTimeAsync((1_010 * calls) / perSecond);
    expect(times()).toHaveLength(calls);
    expect(mostWithin(times(), (1_000 * burst) / perSecond - 1)).toBeLessThanOrEqual(burst);
  });

  it("sends a request at once when time passes between two readings of the clock", async () => {
    const manual = createManualClock();
    let readings = 0;
    const now = () => {
      readings += 1;
      return manual.now() + readings / 1_000;
    };
    const clock = { now, after: manual.after.bind(manual) };
    const pacer = new Pacer(clock, { ceiling: { perSecond: 20, burst: 20 } });
    let sent = false;
    const permit = pacer.acquire(get, "normal", new CancelScope(clock, undefined, undefined));
    void permit.then(() => {
      sent = true;
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toBe(true);
  });

  it("keeps the limit after a pause, and after each request has its response", async () => {
    const { call, times } = start({ perSecond: 10, burst: 10 });
    for (let round = 0; round < 4; round += 1) {
      for (let index = 0; index < 25; index += 1) void call(`${round}`);
      await vi.advanceTimersByTimeAsync(3_700);
    }
    expect(times()).toHaveLength(100);
    expect(mostWithin(times(), 999)).toBeLessThanOrEqual(10);
  });

  it("sends a high-priority call after at most one other call", async () => {
    const { call, sent } = start({ perSecond: 10, burst: 1 });
    for (let index = 0; index < 20; index += 1) void call(`normal ${index}`);
    await vi.advanceTimersByTimeAsync(250);
    void call("high", "high");
    await vi.advanceTimersByTimeAsync(5_000);
    expect(sent.findIndex(({ name }) => name === "high")).toBe(4);
  });

  it("leaves no timer when the last waiting call is aborted, and also limits the calls after it", async () => {
    const { call, times } = start({ perSecond: 0.1, burst: 1 });
    const controller = new AbortController();
    void call("first");
    await vi.advanceTimersByTimeAsync(0);
    for (let index = 0; index < 5; index += 1) void call("aborted", "normal", controller.signal);
    await vi.advanceTimersByTimeAsync(1_000);
    controller.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
    void call("later");
    await vi.advanceTimersByTimeAsync(8_900);
    expect(times()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(times()).toHaveLength(2);
  });

  it("does not delay the next call when a waiting call is aborted", async () => {
    const { call, times } = start({ perSecond: 10, burst: 100 });
    for (let index = 0; index < 100; index += 1) {
      void call(String(index));
      await vi.advanceTimersByTimeAsync(98);
    }
    const controller = new AbortController();
    void call("aborted", "normal", controller.signal);
    await vi.advanceTimersByTimeAsync(20);
    controller.abort();
    void call("next", "high");
    await vi.advanceTimersByTimeAsync(200);
    expect(times()).toHaveLength(101);
  });

  it("returns the tokens of a call that is aborted at the head of the queue: it was never sent", async () => {
    const { pacer, call } = start({ perSecond: 0.1, burst: 1 });
    void call("first");
    await vi.advanceTimersByTimeAsync(0);
    const { remaining } = pacer.rateLimits().policies.default ?? {};
    for (let index = 0; index < 5; index += 1) {
      const controller = new AbortController();
      void call("aborted", "normal", controller.signal);
      await vi.advanceTimersByTimeAsync(0);
      controller.abort();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(pacer.rateLimits().policies.default?.remaining).toBe(remaining);
  });

  it("continues when a call at the head of the queue is aborted", async () => {
    const { call, times } = start({ perSecond: 10, burst: 2 });
    const controller = new AbortController();
    for (let index = 0; index < 20; index += 1)
      void call(String(index), "normal", index % 2 === 0 ? controller.signal : undefined);
    await vi.advanceTimersByTimeAsync(150);
    controller.abort();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(times()).toHaveLength(11);
    expect(mostWithin(times(), 199)).toBeLessThanOrEqual(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([-60_000, -3_600_000])("continues when the wall clock steps by %i ms", async (step) => {
    const { call, times } = start({ perSecond: 20, burst: 4 });
    for (let index = 0; index < 100; index += 1) void call(String(index));
    await vi.advanceTimersByTimeAsync(1_000);
    vi.setSystemTime(Date.now() + step);
    await vi.advanceTimersByTimeAsync(4_500);
    expect(times()).toHaveLength(100);
    expect(mostWithin(times(), 199)).toBeLessThanOrEqual(4);
  });

  it("is included in `estimate`", async () => {
    const { pacer, call } = start({ perSecond: 10, burst: 5 });
    const estimate = (calls: number) => pacer.rateLimits().estimate(calls);
    expect([estimate(5), estimate(6), estimate(25)]).toEqual([0, 500, 2_000]);
    for (let index = 0; index < 5; index += 1) void call("burst");
    await vi.advanceTimersByTimeAsync(100);
    expect([estimate(1), estimate(5), estimate(6), estimate(25)]).toEqual([400, 400, 900, 2_400]);
    expect(pacer.rateLimits().policies.default?.nextTokenIn).toBe(400);
    // One call is at the head of the queue, six wait behind it.
    for (let index = 0; index < 7; index += 1) void call("waiting");
    await vi.advanceTimersByTimeAsync(0);
    expect([estimate(3), estimate(4)]).toEqual([900, 1_400]);
  });
});

describe("`pacing.perSecond` of a client", () => {
  it("limits its requests, and `onPause` reports why a call waits", async () => {
    const clock = createManualClock();
    const pauses: PauseEvent[] = [];
    const times: number[] = [];
    const partner = partnerWith({
      clock,
      hooks: { onPause: (event) => void pauses.push(event) },
      pacing: { perSecond: 50, burst: 5 },
      retry: { baseDelay: 0 },
      fetch: async () => Response.json({ message: "ok" }, { status: times.push(clock.now()) <= 3 ? 500 : 200 }),
    });
    await settle(clock, Promise.all(Array.from({ length: 20 }, () => partner.auth.validate())), 1);
    // Three requests were retries.
    expect(times).toHaveLength(23);
    expect(mostWithin(times, 99)).toBeLessThanOrEqual(5);
    expect(pauses.at(-1)).toMatchObject({ reason: "ceiling", policy: "default", endpoint: "POST /auth/validate" });
  });
});

describe("a ceiling on the caller's own clock", () => {
  it("is measured by that clock", async () => {
    const clock = createTimeline();
    const service = createService(clock, { default: [3_000, 60_000] });
    const { served } = consume({
      clock,
      pacer: new Pacer(clock, { ceiling: { perSecond: 10, burst: 5 } }),
      serve: () => service.serve(["default"]),
      calls: 100,
      parallel: 50,
      latency: () => [2, 3],
    });
    await clock.run(60_000);
    expect(served).toHaveLength(100);
    const times = served.map(({ at }) => at);
    expect(mostWithin(times, 499)).toBeLessThanOrEqual(5);
    expect(Math.max(...times)).toBeLessThan(12_000);
    expect(clock.pending).toBe(0);
  });
});
