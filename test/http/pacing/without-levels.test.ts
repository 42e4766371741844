import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { partnerWith } from "../../support/partner.ts";
import { settle } from "../../support/settle.ts";

/** A response of 100 ms, by the number of the request, from 1. */
type Respond = (number: number) => Response;

const ok = (headers: Record<string, string> = {}) => Response.json({ message: "ok" }, { headers });
const levels = (remaining: number) => ({
  "x-ratelimit-policy": '"default";q=3000;w=60',
  "x-ratelimit": `"default";r=${remaining};t=0`,
});
const failed = (status: number, headers: Record<string, string> = {}) =>
  Response.json({ code: status === 429 ? "rate_limited" : "failed", message: "no" }, { status, headers });

function connect(respond: Respond) {
  const clock = createManualClock();
  const sent: number[] = [];
  let inFlight = 0;
  let most = 0;
  const fetch = async () => {
    const number = sent.push(clock.now());
    inFlight += 1;
    most = Math.max(most, inFlight);
    await new Promise<void>((resolve) => clock.after(100, resolve));
    inFlight -= 1;
    return respond(number);
  };
  const partner = partnerWith({ fetch, clock, retry: { baseDelay: 0 } });
  /** Makes calls at once. Returns the milliseconds until the last one has ended, and the most requests in flight. */
  const burst = async (calls: number) => {
    const began = clock.now();
    most = 0;
    await settle(clock, Promise.allSettled(Array.from({ length: calls }, () => partner.auth.validate())), 5);
    return { took: clock.now() - began, most };
  };
  return { clock, partner, burst, sent };
}

describe("a service that reports no levels", () => {
  it("is called in parallel: after one response in the first burst, at once in each later one", async () => {
    const { clock, burst } = connect(() => ok());
    expect(await burst(40)).toEqual({ took: 200, most: 39 });
    expect(await burst(40)).toEqual({ took: 100, most: 40 });
    await clock.advance(60_000);
    expect(await burst(40)).toEqual({ took: 100, most: 40 });
  });

  it("is paced by the specification's bucket: 3,000 and 50 a second", async () => {
    const { burst, sent } = connect(() => ok());
    await burst(1);
    const began = sent[0] ?? 0;
    await burst(3_200);
    const within = (ms: number) => sent.filter((at) => at <= began + ms).length;
    expect(within(1_500)).toBeLessThanOrEqual(3_000 + 75);
    expect(within(1_500)).toBeGreaterThanOrEqual(2_999);
    expect(sent).toHaveLength(3_201);
    expect((sent.at(-1) ?? 0) - began).toBeGreaterThan(3_900);
    expect((sent.at(-1) ?? 0) - began).toBeLessThan(4_600);
  });

  it("is called in parallel again after the response that follows a 429", async () => {
    const { clock, burst, sent } = connect((number) => (number === 2 ? failed(429, { "retry-after": "1" }) : ok()));
    await burst(1);
    await burst(1);
    expect(sent).toHaveLength(3);
    // The refusal has emptied the client's model of the bucket.
    await clock.advance(10_000);
    for (let count = 0; count < 3; count += 1) expect(await burst(40)).toEqual({ took: 100, most: 40 });
  });

  it.each([401, 404, 500])("does not wait for levels after a first response with %i", async (status) => {
    const { burst } = connect((number) => (number === 1 ? failed(status) : ok()));
    await burst(1);
    expect(await burst(40)).toEqual({ took: 100, most: 40 });
  });

  it.each([
    ["in every tenth response", (number: number) => (number % 10 === 0 ? ok(levels(2_900)) : ok())],
    ["in the first response only", (number: number) => (number === 1 ? ok(levels(2_999)) : ok())],
    ["from the second burst on", (number: number) => (number > 41 ? ok(levels(2_900)) : ok())],
  ])("is called in parallel when it reports them %s", async (_, respond) => {
    const { clock, burst } = connect(respond);
    await burst(1);
    for (const pause of [0, 10, 1_000, 10_000]) {
      await clock.advance(pause);
      expect(await burst(40)).toEqual({ took: 100, most: 40 });
    }
  });

  it("has no free token while calls wait for the first response", async () => {
    const { clock, partner } = connect(() => ok());
    const calls = Promise.all(Array.from({ length: 40 }, () => partner.auth.validate()));
    await clock.advance(50);
    const { remaining, nextTokenIn, waiting } = partner.rateLimits.policies.default ?? {};
    expect({ remaining, waiting }).toEqual({ remaining: 0, waiting: 39 });
    expect(nextTokenIn).toBeGreaterThan(0);
    await settle(clock, calls, 5);
    expect(partner.rateLimits.policies.default).toMatchObject({ nextTokenIn: 0, waiting: 0 });
    expect(partner.rateLimits.policies.default?.remaining).toBeGreaterThan(2_900);
  });
});
