import { PodPartner } from "pod-partner";
import { createEmulator, createManualClock, type ManualClock, sampleImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { gatewayOutcomeOf } from "../../../src/http/pacing/gateway-limit.ts";
import { RateLimitReader } from "../../../src/http/pacing/headers.ts";
import { settle } from "../../support/settle.ts";

const options = { baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" };
const page = (status: number, headers?: Record<string, string>) =>
  new Response("<h1>A gateway</h1>", { status, headers: { "content-type": "text/html", ...headers } });

/** A service with a bucket of 3,000 tokens and 50 a second, of which 20 are left. */
function almostEmpty(clock: ManualClock) {
  let tokens = 20;
  let at = clock.now();
  return () => {
    tokens = Math.min(3_000, tokens + (clock.now() - at) / 20);
    at = clock.now();
    const isEmpty = tokens < 1;
    if (!isEmpty) tokens -= 1;
    const headers = {
      "x-ratelimit-policy": '"default";q=3000;w=60',
      "x-ratelimit": `"default";r=${Math.floor(tokens)};t=${isEmpty ? 1 : 0}`,
    };
    return isEmpty
      ? Response.json({ code: "rate_limited", message: "Wait." }, { status: 429, headers })
      : Response.json({ stores: [] }, { headers });
  };
}

describe("a gateway's response without rate-limit headers", () => {
  it.each([408, 429, 500, 502, 503, 504])("%d as the first response does not start a burst", async (status) => {
    const clock = createManualClock();
    const serve = almostEmpty(clock);
    const statuses: number[] = [];
    const fetch = async () => {
      await new Promise<void>((resolve) => clock.after(5, resolve));
      const response = statuses.length === 0 ? page(status) : serve();
      statuses.push(response.status);
      return response;
    };
    const partner = new PodPartner({ ...options, fetch, clock });
    const calls = Array.from({ length: 200 }, () => partner.organization.stores.list());
    await settle(clock, Promise.all(calls), 5);
    expect(statuses.slice(1)).toStrictEqual(Array.from({ length: 200 }, () => 200));
  });

  it("does not make calls wait for each other in an outage", async () => {
    const clock = createManualClock();
    const fetch = async () => {
      await new Promise<void>((resolve) => clock.after(1_000, resolve));
      return page(503);
    };
    const partner = new PodPartner({ ...options, fetch, clock, retry: { retries: 0 } });
    const began = clock.now();
    await settle(clock, Promise.allSettled(Array.from({ length: 300 }, () => partner.organization.stores.list())), 50);
    expect(clock.now() - began).toBeLessThan(15_000);
  });

  it("with a 429 holds the policies and empties none, once the service has reported a level", async () => {
    const clock = createManualClock();
    const emulator = createEmulator({ clock });
    const partner = new PodPartner({ ...emulator.clientOptions, clock });
    await settle(clock, partner.organization.stores.list(), 10);
    emulator.faults.add({ on: "images.upload", nth: 1, fault: "status", status: 429, retryAfter: 1_000 });
    const began = clock.now();
    await settle(clock, partner.images.upload(sampleImage()), 50);
    expect(clock.now() - began).toBeLessThan(2_000);
  });
});

describe("a response says how a gateway treated its request", () => {
  const levels = { "x-ratelimit": '"default";r=0;t=1' };

  it.each([
    [503, levels, "refused"],
    [429, {}, "refused"],
    [429, levels, "served"],
    [200, {}, "served"],
    [404, {}, "served"],
    [408, {}, "lost"],
    [500, {}, "lost"],
  ])("%i with %j: %s", (status, headers, outcome) => {
    expect(gatewayOutcomeOf(status, new RateLimitReader().read(new Headers(headers)))).toBe(outcome);
  });
});
