import fc from "fast-check";
import type { PodPartner, TimelineEntry, WithResponse } from "pod-partner";
import { redisPacing } from "pod-partner/redis";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { CancelScope } from "../../../src/http/cancel-scope.ts";
import type { PauseEvent } from "../../../src/http/events.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { longer, type PauseReason, type Wait } from "../../../src/http/pacing/wait.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { limiting } from "../../support/pacing/gateway.ts";
import { sequence } from "../../support/pacing/sequence.ts";
import { createService } from "../../support/pacing/service.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";
import { partnerWith } from "../../support/partner.ts";
import { settle } from "../../support/settle.ts";

const reasons = {
  "bucket-empty": true,
  "rate-limited": true,
  probe: true,
  "slow-start": true,
  "fair-share": true,
  "gateway-limit": true,
  ceiling: true,
  fleet: true,
} satisfies Record<Exclude<PauseReason, "other-process" | "storage">, true>;

const levels = (quota: number, window: number, remaining: number) => ({
  "x-ratelimit-policy": `"default";q=${quota};w=${window}`,
  "x-ratelimit": `"default";r=${remaining};t=0`,
});
const ok = (headers = {}) => Response.json({ message: "ok" }, { headers });

interface Given {
  readonly respond: (number: number, now: number) => Response;
  /** Milliseconds that a response takes. */
  readonly took?: number;
  readonly calls: number;
  /** Milliseconds between two calls; 0 for all at once. */
  readonly every?: number;
  /** Calls that have ended before. */
  readonly before?: number;
  readonly pacing?: ConstructorParameters<typeof PodPartner>[0] extends infer Options
    ? Options extends { pacing?: infer Pacing }
      ? Pacing
      : never
    : never;
}

/** Makes calls. Returns what `onPause` reported of them. */
async function pausesOf({ respond, took = 0, calls, every = 0, before = 0, pacing }: Given) {
  const clock = createManualClock();
  const pauses: PauseEvent[] = [];
  /** The reasons that `rateLimits` gave when a pause was reported. */
  const shown = new Set<unknown>();
  let requests = 0;
  const partner: PodPartner = partnerWith({
    clock,
    fetch: async () => {
      requests += 1;
      const number = requests;
      if (took > 0) await new Promise<void>((resolve) => clock.after(took, resolve));
      return respond(number, clock.now());
    },
    hooks: {
      onPause: (event) => {
        pauses.push(event);
        shown.add(partner.rateLimits.policies[event.policy]?.reason);
      },
    },
    ...(pacing !== undefined && { pacing }),
  });
  for (let call = 0; call < before; call += 1) await settle(clock, partner.auth.validate(), 50);
  pauses.length = 0;
  shown.clear();
  const timelines = new Map<unknown, readonly TimelineEntry[]>();
  // An error has them, too.
  const keep = ({ callId, timeline }: Pick<WithResponse<unknown>, "callId" | "timeline">) =>
    timelines.set(callId, timeline);
  const running: Promise<unknown>[] = [];
  for (let call = 0; call < calls; call += 1) {
    running.push(partner.auth.validate().withResponse().then(keep, keep));
    if (every > 0) await clock.advance(every);
  }
  await settle(clock, Promise.all(running), 50);
  for (const { callId, reason } of pauses) {
    expect(timelines.get(callId)).toContainEqual(expect.objectContaining({ step: "queue", reason }));
  }
  expect(shown).toEqual(new Set(pauses.map(({ reason }) => reason)));
  return pauses;
}

describe("a call that waits for more than 300 ms is reported with its reason:", () => {
  const given: Record<keyof typeof reasons, Given> = {
    "bucket-empty": { respond: () => ok(levels(10, 10, 0)), calls: 3, before: 1 },
    "rate-limited": {
      respond: (number) =>
        number === 2
          ? Response.json({ code: "rate_limited", message: "no" }, { status: 429, headers: { "retry-after": "2" } })
          : ok(levels(3_000, 60, 2_000)),
      calls: 3,
      before: 1,
    },
    probe: { respond: () => ok(), took: 500, calls: 3 },
    "slow-start": { respond: (number) => ok(levels(40, 10, 40 - number)), took: 500, calls: 12, before: 1 },
    "fair-share": {
      respond: (number) => ok(levels(100, 100, number === 1 ? 90 : 20 - (number % 5))),
      took: 20,
      calls: 12,
      before: 3,
    },
    "gateway-limit": (() => {
      const gateway = limiting(() => 10, 2);
      const respond = (_: number, now: number) => (gateway(now) ? ok() : new Response("", { status: 503 }));
      return { respond, calls: 60, took: 5, before: 1 };
    })(),
    ceiling: { respond: () => ok(), calls: 3, pacing: { perSecond: 2, burst: 1 } },
    fleet: {
      respond: () => ok(),
      calls: 2,
      pacing: {
        // A Redis that is reached and does not reply.
        shared: redisPacing({ evalSha: () => new Promise(() => {}), eval: () => new Promise(() => {}), isReady: true }),
      },
    },
  };

  it.each(Object.keys(reasons) as (keyof typeof reasons)[])("%s", async (reason) => {
    const pauses = await pausesOf(given[reason]);
    expect(pauses).toContainEqual({
      callId: expect.any(String),
      endpoint: "POST /auth/validate",
      reason,
      policy: "default",
      length: expect.any(Number),
    });
    // Nobody knows when a storage replies.
    for (const { length } of pauses) expect(length > 0).toBe(reason !== "fleet");
  });

  it("each call of a fresh client's first burst, although the headers are perfect and the bucket is empty", async () => {
    const respond = (number: number) => ok(levels(10, 10, number === 1 ? 0 : 1));
    const pauses = await pausesOf({ respond, took: 5, calls: 8 });
    expect(pauses).toHaveLength(7);
    expect(new Set(pauses.map(({ reason }) => reason))).toEqual(new Set(["bucket-empty"]));
  });

  it("and a refused call with the time behind the calls that were refused before it", async () => {
    const clock = createManualClock();
    const gateway = limiting(() => 5, 1);
    const pauses: PauseEvent[] = [];
    const reported = new Map<string, number>();
    const late: number[] = [];
    const partner = partnerWith({
      clock,
      fetch: async () => {
        await new Promise<void>((resolve) => clock.after(20, resolve));
        return gateway(clock.now()) ? ok() : new Response("", { status: 503 });
      },
      retry: { retries: 20 },
      hooks: {
        onPause: (pause) => {
          pauses.push(pause);
          reported.set(pause.callId, clock.now() + pause.length);
        },
        onRequest: ({ callId }) => {
          const at = reported.get(callId);
          if (at !== undefined) late.push(clock.now() - at);
          reported.delete(callId);
        },
      },
    });
    const calls = Array.from({ length: 40 }, () => partner.auth.validate());
    await settle(clock, Promise.all(calls), 20);
    const again = pauses.filter(({ reason }) => reason === "gateway-limit");
    expect(again.length).toBeGreaterThan(20);
    // The rate is an estimate, too. Without the place, calls that wait 5 s said 100 ms.
    expect(Math.max(...late)).toBeLessThan(2_000);
  });

  it("a policy of its own", async () => {
    const respond = () => ok({ "x-ratelimit-policy": '"burst";q=2;w=10', "x-ratelimit": '"burst";r=0;t=5' });
    expect(await pausesOf({ respond, calls: 2, before: 1 })).toMatchObject([{ reason: "bucket-empty" }, {}]);
  });

  it("and no call that waits for a moment only", async () => {
    const respond = () => ok();
    expect(await pausesOf({ respond, took: 100, calls: 40 })).toEqual([]);
  });
});

const schedule = fc.record({
  quota: fc.integer({ min: 1, max: 300 }),
  perSecond: fc.integer({ min: 1, max: 100 }),
  latency: fc.integer({ min: 1, max: 900 }),
  calls: fc.integer({ min: 1, max: 120 }),
  /** Milliseconds in which all calls are made. */
  spread: fc.integer({ min: 0, max: 5_000 }),
  /** The part of the responses without headers. */
  silent: fc.constantFrom(0, 0.3, 1),
  /** Tokens that other clients take in each of the first 20 seconds. */
  strangers: fc.constantFrom(0, 20),
  gateway: fc.constantFrom(undefined, 5, 50),
  ceiling: fc.constantFrom(undefined, { perSecond: 2, burst: 1 }, { perSecond: 50, burst: 10 }),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
});

describe("any schedule of calls", () => {
  it("has each wait of more than 300 ms reported, and no free token while a call waits", async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async (given) => {
        const clock = createTimeline();
        const random = sequence(given.seed);
        const endpoint = endpointOf("orders.get");
        const service = createService(clock, { default: [given.quota, (given.quota / given.perSecond) * 1_000] });
        const passes = given.gateway === undefined ? () => true : limiting(() => given.gateway ?? 0, 3);
        const pacer = new Pacer(clock, { ceiling: given.ceiling });
        let served = 0;
        const silently: number[] = [];
        const attempt = async (again: boolean): Promise<void> => {
          const since = clock.now();
          const reports: Wait[] = [];
          const report = (wait: Wait) => void reports.push(wait);
          const scope = new CancelScope(clock, undefined, undefined);
          const permit =
            pacer.tryAcquire(endpoint) ?? (await pacer.acquire(endpoint, "normal", scope, { retried: again, report }));
          const waited = clock.now() - since;
          if (waited > 300 && reports.length !== 1) silently.push(waited);
          for (const { reason, ms } of reports) {
            expect(reasons).toHaveProperty([reason]);
            expect(ms).toBeGreaterThanOrEqual(0);
            expect(Number.isFinite(ms)).toBe(true);
          }
          clock.after(given.latency * random(), () => {
            const passed = passes(clock.now());
            const answer = passed ? service.serve(["default"]) : undefined;
            clock.after(given.latency * random(), () => {
              const headers = answer === undefined || random() < given.silent ? new Headers() : answer.headers;
              const status = answer === undefined ? 503 : answer.refused ? 429 : 200;
              if (answer?.refused) pacer.refuse(endpoint, permit, headers, { ms: answer.retryAfter });
              else pacer.observe(endpoint, permit, headers, { status });
              if (status === 200) served += 1;
              else clock.after(status === 503 ? 500 * random() : 0, () => void attempt(true));
            });
          });
        };
        for (let call = 0; call < given.calls; call += 1)
          clock.after(given.spread * random(), () => void attempt(false));
        if (given.strangers > 0) {
          const take = () => {
            service.drain("default", given.strangers / 10);
            if (clock.now() < 20_000) clock.after(100, take);
          };
          take();
        }
        const look = () => {
          const { waiting = 0, nextTokenIn = 0, remaining = 0 } = pacer.rateLimits().policies.default ?? {};
          if (waiting > 0) expect([nextTokenIn > 0, remaining]).toEqual([true, 0]);
          if (served < given.calls) clock.after(97, look);
        };
        look();
        await clock.run(3_600_000);
        expect(silently).toEqual([]);
        expect([served, clock.pending]).toEqual([given.calls, 0]);
      }),
      { numRuns: 150 },
    );
  });
});

describe("the longer of two waits", () => {
  const wait = (ms: number, policy: string) => ({ ms, policy, reason: "ceiling" }) as const;

  it.each([
    [wait(5, "a"), wait(3, "b"), "a"],
    [wait(3, "a"), wait(5, "b"), "b"],
    [wait(3, "a"), wait(3, "b"), "a"],
    [wait(3, "a"), undefined, "a"],
    [undefined, wait(3, "b"), "b"],
    [undefined, undefined, undefined],
  ])("%j or %j is that of %s", (one, other, policy) => {
    expect(longer(one, other)?.policy).toBe(policy);
  });
});
