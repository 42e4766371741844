import { ConnectionError, NotFoundError, ServerError } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { fetchFailed } from "../support/fetch-failed.ts";
import { partnerWith, useService } from "../support/partner.ts";
import { settle } from "../support/settle.ts";

describe("retries", () => {
  const context = useService();
  const eager = (retries: number) => context.connect({ retry: { retries, baseDelay: 0, maxDelay: 0 } });

  it("after a 429 are not limited by the number of calls that fail at the same time", async () => {
    const refused = new Set<string>();
    const fetch = async ({ url }: Request) => {
      if (refused.has(url)) return Response.json({});
      refused.add(url);
      return Response.json(
        { code: "rate_limited", message: "Wait." },
        { status: 429, headers: { "retry-after": "1" } },
      );
    };
    const clock = createManualClock();
    const partner = partnerWith({ fetch, clock, pacing: false });
    const calls = Array.from({ length: 101 }, (_, n) => partner.request("GET", `/things/${n}`));
    expect(await settle(clock, Promise.all(calls))).toHaveLength(101);
  });

  it("are limited to the number in the options, and the last error lists all attempts", async () => {
    context.service.respondAlways({ status: 503, body: { code: "down", message: "later" } });
    const error = await eager(4)
      .rendertokens.get()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServerError);
    expect(context.service.requests).toHaveLength(5);
    expect(Reflect.get(Object(error), "timeline")).toMatchObject(
      Array.from({ length: 9 }, (_, index) =>
        index % 2 === 0 ? { step: "attempt", outcome: "503" } : { step: "backoff", outcome: "ServerError" },
      ),
    );
  });

  it.each(["the client's", "the call's"])("are none with `retry: false`: %s", async (whose) => {
    context.service.respondAlways({ status: 503, body: { code: "down", message: "later" } });
    const [own, call] = whose === "the client's" ? [false as const, undefined] : [undefined, false as const];
    await expect(context.connect({ retry: own }).auth.validate({ retry: call })).rejects.toBeInstanceOf(ServerError);
    expect(context.service.requests).toHaveLength(1);
  });

  it("treat an option that is undefined as not given", async () => {
    context.service.respondAlways({ status: 503, body: { code: "down", message: "later" } });
    const retry = { retries: undefined, baseDelay: undefined, maxDelay: undefined, maxRetryAfter: undefined };
    await expect(eager(2).rendertokens.get({ retry })).rejects.toBeInstanceOf(ServerError);
    expect(context.service.requests).toHaveLength(3);

    context.service.reset();
    context.service.respondAlways({ status: 503, headers: { "retry-after": "121" } });
    await expect(eager(2).rendertokens.get({ retry, deadline: 1_000 })).rejects.toBeInstanceOf(ServerError);
    expect(context.service.requests).toHaveLength(1);
  });

  it("follow a `Retry-After` that is as long as `maxRetryAfter`", async () => {
    const clock = createManualClock();
    context.service.respond({ status: 503, headers: { "retry-after": "2" } }, { body: { message: "valid" } });
    const partner = context.connect({ clock });
    await settle(clock, partner.auth.validate({ retry: { maxRetryAfter: 2_000 } }));
    expect(context.service.requests).toHaveLength(2);
  });

  it("wait for the `Retry-After` of a 429 also with `pacing: false`", async () => {
    const clock = createManualClock();
    const sent: number[] = [];
    const partner = partnerWith({
      clock,
      pacing: false,
      fetch: async () => {
        sent.push(clock.now());
        return sent.length > 1
          ? Response.json({ message: "valid" })
          : Response.json({ code: "rate_limited", message: "Wait." }, { status: 429, headers: { "retry-after": "5" } });
      },
    });
    await settle(clock, partner.auth.validate(), 100);
    const [first = Number.NaN, second = Number.NaN] = sent;
    expect(second - first).toBeGreaterThanOrEqual(5_000);
  });

  it.each(["GET", "POST"] as const)(
    "of %s are limited in an outage: a hundred at once, then five a second",
    async (method) => {
      let sent = 0;
      const fetch = async () => {
        sent += 1;
        throw fetchFailed("ECONNREFUSED", "connect");
      };
      const clock = createManualClock();
      const retry = { retries: 4, baseDelay: 0, maxDelay: 0 };
      const partner = partnerWith({ retry, fetch, clock });
      const fail = async () => {
        sent = 0;
        // The time does not move.
        for (let call = 0; call < 60; call++) await settle(clock, rejection(partner.request(method, "/things")), 0);
        return sent;
      };
      expect(await fail()).toBe(60 + 100);
      expect(await fail()).toBe(60);
      await clock.advance(3_000);
      expect(await fail()).toBe(60 + 15);
    },
  );

  it("are as many as in the options when each attempt is refused: the call ends within 26 s without a deadline", async () => {
    const clock = createManualClock();
    const fetch = async () => {
      throw fetchFailed("ECONNREFUSED", "connect");
    };
    const partner = partnerWith({ fetch, clock });
    const began = clock.now();
    const error = await settle(clock, rejection(partner.request("GET", "/things")), 100);
    expect(error).toMatchObject({ name: "ConnectionError", sent: false });
    expect(
      Reflect.get(Object(error), "timeline").filter(({ step }: { step: string }) => step === "attempt"),
    ).toHaveLength(8);
    expect(clock.now() - began).toBeGreaterThan(12_800);
    expect(clock.now() - began).toBeLessThan(26_000);
  });

  it("in an outage wait for a `Retry-After` once, then for backoffs, so that calls do not all come back at once", async () => {
    const clock = createManualClock();
    let up = false;
    const fetch = async () =>
      up ? Response.json({}) : new Response("down", { status: 503, headers: { "retry-after": "5" } });
    const partner = partnerWith({ fetch, clock });
    const calls = Promise.all(Array.from({ length: 300 }, (_, n) => partner.request("GET", `/things/${n}`)));
    await clock.advance(4_000);
    up = true;
    expect(await settle(clock, calls)).toHaveLength(300);
  });

  it("start again when the outage is over", async () => {
    const partner = eager(4);
    context.service.respondAlways({ status: 503, body: { code: "down", message: "later" } });
    for (let call = 0; call < 60; call++) await partner.rendertokens.get().catch(() => undefined);
    const tokens = { used: 0, limit: 1, remaining: 1, resets: "2026-11-23T00:00:00+01:00" };
    const up = { body: { rendertokens: tokens } };
    context.service.respond(up, { status: 503, body: { code: "down", message: "later" } }, up);
    await partner.rendertokens.get();
    expect(await partner.rendertokens.get()).toEqual(tokens);
  });

  it("after another error do not wait for the `Retry-After` of a 429 before it", async () => {
    const clock = createManualClock();
    const delays: number[] = [];
    const refused = { code: "rate_limited", message: "Wait." };
    context.service.respond(
      { status: 429, headers: { "retry-after": "60" }, body: refused },
      { status: 503, body: { code: "down", message: "later" } },
      { body: { message: "valid" } },
    );
    const hooks = { onRetry: ({ delay }: { readonly delay: number }) => void delays.push(delay) };
    const partner = context.connect({ clock, hooks });
    await settle(clock, partner.auth.validate());
    expect(delays).toEqual([60_000, expect.closeTo(250, -3)]);
  });

  it("are not announced when the deadline comes before them", async () => {
    const refused = { code: "rate_limited", message: "Wait." };
    context.service.respond({ status: 429, headers: { "retry-after": "3" }, body: refused });
    const retries: unknown[] = [];
    const hooks = { onRetry: (event: unknown) => void retries.push(event) };
    const partner = context.connect({ hooks, deadline: 1_000 });
    await expect(partner.auth.validate()).rejects.toMatchObject({ name: "DeadlineError" });
    expect(retries).toEqual([]);
  });

  it("do not follow an abort whose reason is an error that they would follow otherwise", async () => {
    const abort = new AbortController();
    const reason = new ConnectionError({ endpoint: "GET /rendertokens", reason: "reset", sent: false });
    context.service.respondAlways(() => {
      abort.abort(reason);
      return new Promise(() => undefined);
    });
    const retries: unknown[] = [];
    const hooks = { onRetry: (event: unknown) => void retries.push(event) };
    const partner = context.connect({ hooks });
    await expect(partner.rendertokens.get({ signal: abort.signal })).rejects.toBe(reason);
    expect(retries).toEqual([]);
  });

  it("keep the token of a request that was sent, whatever error its abort has as reason", async () => {
    const headers = { "x-ratelimit-policy": '"default";q=10;w=3600', "x-ratelimit": '"default";r=9;t=0' };
    context.service.respond({ body: { message: "valid" }, headers });
    const partner = context.connect();
    await partner.auth.validate();
    const { remaining } = partner.rateLimits.policies.default ?? {};
    for (const reason of [
      new ConnectionError({ endpoint: "GET /rendertokens", reason: "reset", sent: false }),
      new NotFoundError({ endpoint: "GET /x", response: { status: 404, headers: {}, body: undefined }, message: "x" }),
    ]) {
      const abort = new AbortController();
      context.service.respond(() => {
        abort.abort(reason);
        return new Promise(() => undefined);
      });
      await expect(partner.rendertokens.get({ signal: abort.signal })).rejects.toBe(reason);
    }
    expect(partner.rateLimits.policies.default?.remaining).toBe((remaining ?? 0) - 2);
  });

  it("end with the caller's reason when it aborts an attempt, also when the reason is not an Error", async () => {
    const abort = new AbortController();
    context.service.respond({ status: 503 }, () => {
      abort.abort("changed my mind");
      return new Promise(() => undefined);
    });
    await expect(eager(4).rendertokens.get({ signal: abort.signal })).rejects.toBe("changed my mind");
  });
});
