import type { PodPartnerOptions } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { CancelScope } from "../../../src/http/cancel-scope.ts";
import type { PauseEvent } from "../../../src/http/events.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import type { Wait } from "../../../src/http/pacing/wait.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { limiting } from "../../support/pacing/gateway.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";
import { partnerWith } from "../../support/partner.ts";
import { settle } from "../../support/settle.ts";

const get = endpointOf("orders.get");
const upload = endpointOf("images.upload");
const levels = (policies: string, remaining: string) => ({
  "x-ratelimit-policy": policies,
  "x-ratelimit": remaining,
});
const usual = levels('"default";q=3000;w=60', '"default";r=2900;t=0');

interface Given {
  readonly headers?: Record<string, string>;
  readonly pacing?: PodPartnerOptions["pacing"];
  /** Whether a gateway passes a request. Default: each. */
  readonly passes?: (now: number) => boolean;
}

/** A client whose responses take 100 ms. */
function connect({ headers = usual, pacing = true, passes = () => true }: Given = {}) {
  const clock = createManualClock();
  const pauses: PauseEvent[] = [];
  const partner = partnerWith({
    clock,
    pacing,
    hooks: { onPause: (event) => void pauses.push(event) },
    fetch: async () => {
      const passed = passes(clock.now());
      await new Promise<void>((resolve) => clock.after(100, resolve));
      return passed ? Response.json({ message: "ok" }, { headers }) : new Response("", { status: 503 });
    },
  });
  const call = (calls: number) => Promise.allSettled(Array.from({ length: calls }, () => partner.auth.validate()));
  const state = () => {
    const { policies, estimate } = partner.rateLimits;
    const { nextTokenIn = Number.NaN, waiting, remaining } = policies.default ?? {};
    return { nextTokenIn, waiting, remaining, estimate };
  };
  return { clock, partner, pauses, call, state };
}

describe("`rateLimits` while calls wait for the first response", () => {
  it("estimates at least the waits that `onPause` reports", async () => {
    const silent = new Promise<Response>(() => {});
    const clock = createManualClock();
    const pauses: PauseEvent[] = [];
    const partner = partnerWith({
      clock,
      timeout: 60_000,
      hooks: { onPause: (event) => void pauses.push(event) },
      fetch: () => silent,
    });
    for (let number = 0; number < 40; number += 1) void partner.auth.validate();
    await clock.advance(295);
    const longest = Math.max(...pauses.map(({ length }) => length));
    expect([pauses.length, pauses[0]?.reason]).toEqual([39, "probe"]);
    expect(longest).toBeGreaterThan(5_000);
    expect(partner.rateLimits.estimate(0)).toBeGreaterThan(longest - 10);
    expect(partner.rateLimits.estimate(100)).toBeGreaterThanOrEqual(partner.rateLimits.estimate(1));
  });

  it("estimates no less than `nextTokenIn` for a single call", async () => {
    const { clock, call, state } = connect();
    const running = call(1);
    await clock.advance(50);
    expect(state().nextTokenIn).toBe(950);
    expect(state().estimate(1)).toBe(950);
    await settle(clock, running, 5);
    expect([state().nextTokenIn, state().estimate(1), state().estimate(100)]).toEqual([0, 0, 0]);
  });
});

it("`estimate` of uploads includes the tokens of the policy `default`, which they take, too", async () => {
  const headers = levels('"default";q=10;w=10, "uploads";q=100;w=86400', '"default";r=0;t=1, "uploads";r=90;t=0');
  const { clock, call, partner } = connect({ headers });
  await settle(clock, call(1), 5);
  const { estimate } = partner.rateLimits;
  expect(estimate(5, "uploads")).toBeGreaterThan(4_000);
  expect(estimate(5, "uploads")).toBe(estimate(5));
});

describe("`rateLimits` of a client with `pacing: false`", () => {
  it("says that the next call may be sent now: before the first response, and when the bucket is empty", async () => {
    const headers = levels('"default";q=60;w=60', '"default";r=0;t=1');
    const { clock, call, state } = connect({ pacing: false, headers });
    expect(state().nextTokenIn).toBe(0);
    const running = call(3);
    await clock.advance(50);
    expect([state().nextTokenIn, state().waiting]).toEqual([0, 0]);
    await settle(clock, running, 5);
    expect([state().nextTokenIn, state().remaining]).toEqual([0, 0]);
    // The tokens themselves come at one a second.
    expect(state().estimate(10)).toBeGreaterThan(8_000);
  });
});

describe("`rateLimits` at a gateway with its own limit", () => {
  it("says when the next call may be sent", async () => {
    const gateway = limiting(() => 4, 2);
    const { clock, call, state, partner } = connect({ passes: gateway });
    const running = call(60);
    await clock.advance(4_000);
    expect(state().waiting).toBeGreaterThan(0);
    expect(partner.rateLimits.policies.default?.reason).toBe("gateway-limit");
    await settle(clock, running, 5);
    const { nextTokenIn, estimate } = state();
    expect(nextTokenIn).toBeGreaterThan(50);
    expect(estimate(1)).toBe(nextTokenIn);
    expect(partner.rateLimits.policies.default?.reason).toBeUndefined();
    await clock.advance(5_000);
    expect([state().nextTokenIn, state().estimate(1)]).toEqual([0, 0]);
  });
});

describe("`rateLimits` of a client with a ceiling", () => {
  it("counts the call that waits for its slot, and no token is free meanwhile", async () => {
    const { clock, call, state } = connect({ pacing: { perSecond: 1, burst: 1 } });
    const running = call(2);
    await clock.advance(200);
    expect(state()).toMatchObject({ waiting: 1, remaining: 0, nextTokenIn: 800 });
    await settle(clock, running, 5);
    expect(state().waiting).toBe(0);
  });

  it("gives the policy of a call that waits for a token, although another call waits for the ceiling", async () => {
    const clock = createTimeline();
    const pacer = new Pacer(clock, { ceiling: { perSecond: 0.5, burst: 1 } });
    const response = levels('"default";q=3000;w=60, "uploads";q=5;w=300', '"default";r=2900;t=0, "uploads";r=0;t=60');
    const reports: Wait[] = [];
    const acquire = (route: typeof get) =>
      pacer.acquire(route, "normal", new CancelScope(clock, undefined, undefined), {
        report: (wait) => void reports.push(wait),
      });
    const first = acquire(upload);
    await clock.run(1);
    pacer.observe(upload, await first, new Headers(response));
    for (const route of [get, get, upload]) void acquire(route);
    await clock.run(1_000);
    expect(reports.map(({ reason, policy }) => `${reason} ${policy}`)).toEqual([
      "ceiling default",
      "ceiling default",
      "bucket-empty uploads",
    ]);
    const { default: all, uploads } = pacer.rateLimits().policies;
    expect([all?.waiting, uploads?.waiting]).toEqual([2, 1]);
  });

  it("reports the length of the wait for the next slot, also of the call that is first", async () => {
    const { clock, call, pauses } = connect({ pacing: { perSecond: 1, burst: 1 } });
    const running = call(3);
    await settle(clock, running, 5);
    expect(pauses.map(({ reason, length }) => [reason, length])).toEqual([
      ["ceiling", 710],
      ["ceiling", 1_710],
    ]);
  });
});

describe("`rateLimits` of a fleet with a ceiling", () => {
  function start(roundTrip: number, slotAt: number) {
    const clock = createTimeline();
    const asked: number[] = [];
    const reserve = async (_: unknown, slots: number) => {
      asked.push(slots);
      await new Promise<void>((resolve) => void clock.after(roundTrip, resolve));
      return [slotAt - clock.now()];
    };
    const pacer = new Pacer(clock, {
      ceiling: { perSecond: 1, burst: 1 },
      open: (own) => Object.assign(own, { reserve }),
    });
    const reports: Wait[] = [];
    const scope = new CancelScope(clock, undefined, undefined);
    void pacer.acquire(get, "normal", scope, { report: (wait) => void reports.push(wait) });
    return { clock, pacer, reports, asked };
  }

  it("gives the slot that the process has reserved", async () => {
    const { clock, pacer, reports } = start(10, 5_000);
    await clock.run(300);
    expect(pacer.rateLimits().policies.default).toMatchObject({ waiting: 1, nextTokenIn: 4_700 });
    expect(pacer.rateLimits().estimate(1)).toBeGreaterThanOrEqual(4_700);
    expect(reports).toEqual([{ reason: "ceiling", policy: "default", ms: 4_710 }]);
  });

  it("reports a call that waits for Redis with the reason `fleet`", async () => {
    const { clock, reports, asked } = start(400, 5_000);
    await clock.run(300);
    // The only timer is that of the reply.
    expect([asked, clock.pending]).toEqual([[1], 1]);
    expect(reports).toEqual([{ reason: "fleet", policy: "default", ms: 0 }]);
  });
});

it.each([Number.NaN, Number.POSITIVE_INFINITY, "10", {}, 10n, Symbol("10"), null, undefined])(
  "the number of calls of an estimate is not %s",
  (calls) => {
    const estimate = () => partnerWith({ clock: createManualClock() }).rateLimits.estimate(calls as never);
    const issues = [{ path: ["calls"], message: "expected a finite number" }];
    expect(estimate).toThrow(expect.objectContaining({ name: "RequestValidationError", issues }));
  },
);
