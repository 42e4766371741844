import { RateLimitError, type RequestOptions } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { partnerWith } from "../../support/partner.ts";
import { settle } from "../../support/settle.ts";

const year = 31_536_000;

/** A response with the rate-limit headers of specification 8. */
const response = (policies: string, levels: string) =>
  Response.json({ message: "ok" }, { headers: { "x-ratelimit-policy": policies, "x-ratelimit": levels } });
const usual = () => response('"default";q=3000;w=60', '"default";r=2000;t=0');
const absurd = () => response(`"default";q=1;w=${year}`, `"default";r=0;t=${year}`);
const refused = () =>
  Response.json(
    { code: "rate_limited", message: "no" },
    {
      status: 429,
      headers: {
        "retry-after": String(year),
        "x-ratelimit-policy": '"default";q=3000;w=60',
        "x-ratelimit": '"default";r=0;t=1',
      },
    },
  );

/** A client of a service that responds by the number of the request, from 1. */
function connect(respond: (number: number) => Response, retry: RequestOptions["retry"] = {}) {
  const clock = createManualClock();
  const seen: number[] = [];
  const fetch = async () => respond(seen.push(clock.now()));
  const partner = partnerWith({ fetch, clock, retry });
  const validate = (options: RequestOptions = {}) => partner.auth.validate(options);
  return { clock, partner, seen, validate };
}

describe("a next token that is further away than `maxRetryAfter`", () => {
  it.each([
    ["a quota on a 200", absurd],
    [
      "a second policy in the header",
      () => response(`"default";q=3000;w=60, "daily";q=1;w=${year}`, '"default";r=2000;t=0, "daily";r=0;t=9'),
    ],
    ["a policy under another name", () => response(`"std";q=1;w=${year}`, `"std";r=0;t=${year}`)],
    ["a `Retry-After` on a 429", refused],
  ])("ends the next call at once when it is reported by %s", async (_, respond) => {
    const { clock, validate, seen } = connect(respond);
    const began = clock.now();
    await validate().catch(() => undefined);
    const error = await rejection(validate());
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ code: "rate_limited", isRetryable: true });
    expect((error as RateLimitError).retryAfter).toBeGreaterThan(0.99 * year * 1_000);
    expect(String(error)).toMatch(
      /was not sent: the next token of the policy "\w+" comes in \d+ s, .*maxRetryAfter.* 120 s/,
    );
    expect([seen.length, clock.now() - began]).toEqual([1, 0]);
  });

  it("ends the next call at once when the remaining tokens are shared with other clients", async () => {
    const { clock, validate, seen } = connect((number) =>
      response(`"default";q=100;w=${year}`, `"default";r=${number < 3 ? 40 : 20};t=0`),
    );
    for (let call = 0; call < 3; call++) await settle(clock, validate(), 10);
    const began = clock.now();
    expect(await rejection(validate())).toBeInstanceOf(RateLimitError);
    expect([seen.length, clock.now() - began]).toEqual([3, 0]);
  });

  it.each([
    ["the header", 49, absurd],
    ["the `Retry-After` of a 429", 50, refused],
  ])("ends the calls that are queued when %s arrives", async (_, count, respond) => {
    const { clock, validate, seen } = connect(respond);
    const began = clock.now();
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => validate()));
    const failed = outcomes.filter(({ status }) => status === "rejected");
    expect([failed.length, seen.length, clock.now() - began]).toEqual([count, 1, 0]);
    for (const outcome of failed) expect(outcome).toMatchObject({ reason: { name: "RateLimitError" } });
  });

  it("is checked again after `maxRetryAfter`, by one request", async () => {
    const { clock, validate, seen } = connect((number) => (number <= 2 ? absurd() : usual()));
    await validate();
    await clock.advance(119_000);
    expect(await rejection(validate())).toBeInstanceOf(RateLimitError);
    await clock.advance(2_000);
    const looks = await Promise.allSettled(Array.from({ length: 10 }, () => validate()));
    expect(looks.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(seen).toHaveLength(2);

    await clock.advance(119_000);
    expect(await rejection(validate())).toBeInstanceOf(RateLimitError);
    await clock.advance(2_000);
    await validate();
    await settle(clock, Promise.all(Array.from({ length: 10 }, () => validate())));
    expect(seen).toHaveLength(13);
  });

  it("is checked again when the request that took the last token is lost", async () => {
    const { clock, validate, seen } = connect(
      (number) => {
        if (number === 1) return response(`"default";q=2;w=${year}`, '"default";r=1;t=0');
        if (number === 2) throw new TypeError("fetch failed");
        return usual();
      },
      { retries: 0 },
    );
    await validate();
    await rejection(settle(clock, validate(), 10));
    expect(await rejection(validate())).toBeInstanceOf(RateLimitError);
    await clock.advance(121_000);
    await validate();
    expect(seen).toHaveLength(3);
  });

  it("is compared with the call's own `maxRetryAfter`", async () => {
    const minute = (number: number) => response('"default";q=1;w=60', `"default";r=0;t=${number}`);
    const { clock, validate, seen } = connect(minute);
    await validate();
    expect(await rejection(validate({ retry: { maxRetryAfter: 30_000 } }))).toBeInstanceOf(RateLimitError);
    const patient = validate();
    await clock.advance(35_000);
    const near = validate({ retry: { maxRetryAfter: 30_000 } });
    const outcome = rejection(near);
    await settle(clock, patient);
    // The patient call took the token: the next one is a minute away again.
    expect(await outcome).toBeInstanceOf(RateLimitError);
    expect(seen).toHaveLength(2);
    expect((seen[1] ?? 0) - (seen[0] ?? 0)).toBeGreaterThanOrEqual(60_000);
  });

  it("does not end a call whose own `maxRetryAfter` is longer", async () => {
    const { clock, validate, seen } = connect((number) =>
      number === 1 ? response('"default";q=1;w=600', '"default";r=0;t=600') : usual(),
    );
    await validate();
    const patient = validate({ retry: { maxRetryAfter: 3_600_000 } });
    expect(await rejection(validate())).toBeInstanceOf(RateLimitError);
    await settle(clock, patient);
    expect(seen).toHaveLength(2);
  });
});

describe("a position far back in the queue of a bucket that refills", () => {
  it("does not end the call, also beyond `maxRetryAfter`", async () => {
    let tokens = 1;
    const { clock, validate, seen } = connect(() => {
      tokens = Math.max(0, tokens - 1);
      return response('"default";q=1;w=60', `"default";r=${tokens};t=60`);
    });
    await settle(clock, Promise.all(Array.from({ length: 8 }, () => validate())));
    expect(seen).toHaveLength(8);
    expect((seen[7] ?? 0) - (seen[0] ?? 0)).toBeGreaterThanOrEqual(7 * 60_000);
  });

  it("does not end the call with a `maxRetryAfter` of 0, when a token comes each second", async () => {
    const { clock, validate, seen } = connect(() => response('"default";q=1;w=1', '"default";r=0;t=1'), {
      maxRetryAfter: 0,
    });
    await settle(clock, Promise.all(Array.from({ length: 8 }, () => validate())));
    expect(seen).toHaveLength(8);
  });
});
