import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CancelScope } from "../../../src/http/cancel-scope.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { endpointOf } from "../../support/endpoints.ts";

const get = endpointOf("orders.get");

describe("the queue on the machine's own clock", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A pacer whose bucket of 10, refilled at 5 a second, is empty, and the calls in its queue. */
  function waiting(calls: number) {
    const pacer = new Pacer(systemClock);
    const headers = new Headers({ "x-ratelimit-policy": '"default";q=10;w=2', "x-ratelimit": '"default";r=0;t=1' });
    pacer.observe(get, pacer.takeAnyway(get), headers);
    const began = systemClock.now();
    const granted: number[] = [];
    for (let index = 0; index < calls; index += 1) {
      pacer.acquire(get, "normal", new CancelScope(systemClock, undefined, undefined)).then(
        (grant) => {
          granted.push(systemClock.now() - began);
          pacer.forget(grant);
        },
        () => undefined,
      );
    }
    return granted;
  }

  it("releases one call for each token, without drift", async () => {
    const granted = waiting(20);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(granted).toHaveLength(20);
    const last = granted.at(-1) ?? 0;
    // The first call waits for two tokens, because one stays in the bucket.
    expect(last).toBeGreaterThanOrEqual(21 * 200);
    expect(last).toBeLessThan(21.5 * 200);
  });
});
