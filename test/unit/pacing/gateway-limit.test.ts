import { type PauseEvent, PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { CancelScope } from "../../../src/http/cancel-scope.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { endpointOf } from "../../support/pacing/consumer.ts";
import { sequence } from "../../support/pacing/sequence.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";
import { secretKey, useService } from "../../support/partner.ts";

const endpoint = endpointOf("orders.get");
/** A service without a rate limit of its own. */
const usual = new Headers({ "x-ratelimit-policy": '"default";q=60000;w=60', "x-ratelimit": '"default";r=50000;t=0' });

/** The requests that a gateway accepts, as a function of the time in milliseconds. */
type Gateway = (now: number) => boolean;

/** The leaky bucket of nginx's `limit_req`, with `nodelay`. */
function limiting(perSecond: () => number, burst: number): Gateway {
  let excess = 0;
  let last = Number.NEGATIVE_INFINITY;
  return (now) => {
    const next = Math.max(0, excess - ((now - last) / 1_000) * perSecond() + (Number.isFinite(last) ? 1 : 0));
    if (next > burst + 1e-9) return false;
    [excess, last] = [next, now];
    return true;
  };
}

/** Makes this many calls through a gateway at once; each is retried until it succeeds. */
async function run(calls: number, gateway: Gateway, [going, coming]: readonly [number, number] = [2, 3]) {
  const clock = createTimeline(1_000_000);
  const began = clock.now();
  const pacer = new Pacer(clock);
  const random = sequence(7);
  const served: number[] = [];
  let refused = 0;
  const call = async (again: boolean): Promise<void> => {
    const scope = new CancelScope(clock, undefined, undefined);
    const grant = pacer.tryAcquire(endpoint) ?? (await pacer.acquire(endpoint, "normal", scope, again));
    clock.after(going + random(), () => {
      const passes = gateway(clock.now());
      clock.after(coming + random(), () => {
        pacer.observe(endpoint, grant, passes ? usual : new Headers(), { status: passes ? 200 : 503 });
        if (passes) served.push(clock.now() - began);
        else {
          refused += 1;
          clock.after(250 * random(), () => void call(true));
        }
      });
    });
  };
  for (let number = 0; number < calls; number += 1) void call(false);
  await clock.run(began + 300_000);
  expect(served).toHaveLength(calls);
  expect(clock.pending).toBe(0);
  return { took: Math.max(...served), refused, served, pacer };
}

describe("a gateway that refuses requests above its limit", () => {
  it.each([
    ["no burst", 0, [2, 3] as const],
    ["a burst of 20", 20, [2, 3] as const],
    ["a burst of 20, 50 ms away", 20, [25, 25] as const],
  ])("receives few more requests than it accepts: %s", async (_, burst, latency) => {
    const { took, refused } = await run(
      600,
      limiting(() => 30, burst),
      latency,
    );
    // 600 at 30 a second.
    expect(took).toBeLessThan(1.15 * 20_000);
    expect(refused).toBeLessThan(70);
  });

  it("is followed when it lowers or raises its limit", async () => {
    let perSecond = 30;
    let last = 0;
    const gateway = limiting(() => perSecond, 5);
    const { served, refused } = await run(1_500, (now) => {
      last = now - 1_000_000;
      perSecond = last < 15_000 ? 30 : last < 30_000 ? 10 : 100;
      return gateway(now);
    });
    const within = (from: number, to: number) =>
      served.filter((at) => at >= from && at < to).length / ((to - from) / 1_000);
    expect(within(5_000, 15_000)).toBeGreaterThan(25);
    expect(within(20_000, 30_000)).toBeGreaterThan(7);
    expect(within(40_000, 45_000)).toBeGreaterThan(60);
    expect(refused).toBeLessThan(200);
  });

  it("does not slow down the client when it refuses one request in fifty at random", async () => {
    const random = sequence(11);
    const { took, pacer } = await run(2_000, () => random() > 0.02);
    expect(took).toBeLessThan(3_000);
    expect(pacer.slowedTo).toBe(0);
  });

  it("does not slow down a long run for more than a moment when requests are refused at random", async () => {
    const random = sequence(13);
    const { took } = await run(20_000, () => random() > 0.025);
    // Without trials of a higher rate, they take 290 seconds.
    expect(took).toBeLessThan(30_000);
  });
});

describe("calls that a gateway refuses with 503", () => {
  const context = useService();

  function connect() {
    const pauses: PauseEvent[] = [];
    const hooks = { onPause: (event: PauseEvent) => void pauses.push(event) };
    const { baseUrl } = context.service;
    return { pauses, partner: new PodPartner({ baseUrl, secretKey, hooks, retry: { baseDelay: 1, maxDelay: 5 } }) };
  }
  const valid = { body: { message: "ok" } };
  const html = { status: 503, headers: { "content-type": "text/html" }, body: "<h1>503</h1>" };

  it("are spread, and reported by `onPause`, when the refusals have a `Retry-After`", async () => {
    const { partner, pauses } = connect();
    context.service.respond({ ...html, headers: { ...html.headers, "retry-after": "0" } });
    context.service.respondAlways(valid);
    await partner.auth.validate();
    expect(pauses).toMatchObject([{ reason: "gateway-limit", endpoint: "POST /auth/validate", length: 125 }]);
    expect(partner.rateLimits.estimate(100)).toBeGreaterThan(5_000);
  });

  it("are not spread after one refusal without `Retry-After`", async () => {
    const { partner, pauses } = connect();
    context.service.respond(valid, html);
    context.service.respondAlways(valid);
    await partner.auth.validate();
    await partner.auth.validate();
    expect([pauses, partner.rateLimits.estimate(100)]).toEqual([[], 0]);
  });

  it("do not spend the client's retry budget: refusals of a limit are not an outage", async () => {
    const { partner } = connect();
    const gateway = limiting(() => 200, 0);
    context.service.respondAlways(() => (gateway(performance.now()) ? valid : html));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 300 }, () => partner.auth.validate({ retry: { retries: 20 } })),
    );
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
  });
});
