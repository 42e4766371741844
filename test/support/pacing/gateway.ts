import { CancelScope } from "../../../src/http/cancel-scope.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { endpointOf } from "../endpoints.ts";
import { sequence } from "./sequence.ts";
import { createTimeline } from "./timeline.ts";

/** Whether a gateway passes a request to the service, as a function of the time in milliseconds. */
export type Gateway = (now: number) => boolean;

/** The leaky bucket of nginx's `limit_req`, with `nodelay`. */
export function limiting(perSecond: (now: number) => number, burst: number): Gateway {
  let excess = 0;
  let last = Number.NEGATIVE_INFINITY;
  return (now) => {
    const next = Math.max(0, excess - ((now - last) / 1_000) * perSecond(now) + (Number.isFinite(last) ? 1 : 0));
    if (next > burst + 1e-9) return false;
    [excess, last] = [next, now];
    return true;
  };
}

/** Passes so many requests in each second by the clock, the first ones. */
export function fixedWindow(perSecond: number, offset = 0): Gateway {
  let [second, passed] = [Number.NaN, 0];
  return (now) => {
    const present = Math.floor((now + offset) / 1_000);
    if (present !== second) [second, passed] = [present, 0];
    passed += 1;
    return passed <= perSecond;
  };
}

/** Passes a request when fewer than so many have passed in the second before it. */
export function slidingWindow(perSecond: number): Gateway {
  let passed: number[] = [];
  return (now) => {
    passed = passed.filter((at) => at > now - 1_000);
    if (passed.length >= perSecond) return false;
    passed.push(now);
    return true;
  };
}

/** Refuses a part of all requests, whatever their rate. */
export function failing(part: number, seed: number): Gateway {
  const random = sequence(seed);
  return () => random() >= part;
}

/** How calls go through a gateway. */
export interface Passage {
  readonly calls: number;
  /** Calls at a time. Default: all at once. */
  readonly parallel?: number;
  /** Milliseconds to the gateway and back; each way takes up to 1 ms more. Default: 2 and 3. */
  readonly latency?: readonly [going: number, coming: number];
  /** Milliseconds that the service takes for a request that the gateway passes. Default 0. */
  readonly work?: number;
  readonly paced?: boolean;
  readonly status?: 503 | 429;
  readonly seed?: number;
  /** The service's rate-limit headers; undefined without any. */
  readonly headers?: Record<string, string>;
  /** Milliseconds of the simulation. */
  readonly until?: number;
}

/** A service without a rate limit of its own. */
const usual = { "x-ratelimit-policy": '"default";q=60000;w=60', "x-ratelimit": '"default";r=50000;t=0' };
const began = 1_000_000;

/** Makes calls through a gateway, as the operation of a call does: each is retried with a backoff until it succeeds. */
export async function pass(gateway: Gateway, passage: Passage) {
  const { calls, parallel = calls, latency = [2, 3], work = 0, paced = true, status = 503, until = 300_000 } = passage;
  const { headers = usual, seed = 7 } = passage;
  const endpoint = endpointOf("orders.get");
  const clock = createTimeline(began);
  const pacer = new Pacer(clock);
  const random = sequence(seed);
  /** Milliseconds from the start to each success. */
  const served: number[] = [];
  let [refused, failed, left] = [0, 0, calls];
  const attempt = async (number: number): Promise<void> => {
    const scope = new CancelScope(clock, undefined, undefined);
    const acquired = () =>
      pacer.tryAcquire(endpoint) ?? pacer.acquire(endpoint, "normal", scope, { retried: number > 1 });
    const grant = paced ? await acquired() : pacer.takeAnyway(endpoint);
    clock.after(latency[0] + random(), () => {
      const passes = gateway(clock.now() - began);
      clock.after((passes ? work : 0) + latency[1] + random(), () => {
        const report = new Headers(passes ? headers : {});
        if (passes) {
          pacer.observe(endpoint, grant, report);
          served.push(clock.now() - began);
          start();
          return;
        }
        refused += 1;
        // The default of `retry.retries` is 4.
        if (number === 5) failed += 1;
        const backoff = random() * Math.min(10_000, 250 * 2 ** (number - 1));
        if (status === 429) pacer.refuse(endpoint, grant, report, { ms: backoff });
        else pacer.observe(endpoint, grant, report, { status });
        if (status === 429 && paced) void attempt(number + 1);
        else clock.after(backoff, () => void attempt(number + 1));
      });
    });
  };
  const start = () => {
    if (left === 0) return;
    left -= 1;
    void attempt(1);
  };
  for (let lane = 0; lane < parallel; lane += 1) start();
  await clock.run(began + until);
  return { served, refused, failed, took: Math.max(...served), pacer, pending: clock.pending };
}
