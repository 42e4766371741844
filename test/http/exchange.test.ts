import { DeadlineError, type PodPartner, type RequestOptions, RequestTimeoutError } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { partnerWith } from "../support/partner.ts";
import { ref } from "../support/references.ts";

/** A response whose body never ends, and whether the body was cancelled. */
function endless() {
  const state = { canceled: false };
  const body = new ReadableStream<Uint8Array>({
    pull: () => new Promise(() => undefined),
    cancel: () => {
      state.canceled = true;
    },
  });
  return { response: new Response(body, { headers: { "content-type": "image/png" } }), state };
}

type Call = (partner: PodPartner, options: RequestOptions) => PromiseLike<unknown>;
const get: Call = (partner, options) => partner.orders.get(ref("Order"), options);
const download: Call = (partner, options) => partner.renders.media(ref("Render"), options);

describe("a response that arrives after its call has ended, from a fetch that ignores its signal", () => {
  it.each([
    ["a timeout", get, { timeout: 1_000 }, RequestTimeoutError],
    ["a deadline", get, { deadline: 1_000 }, DeadlineError],
    ["a timeout of a download", download, { timeout: 1_000 }, RequestTimeoutError],
    ["a deadline of a download", download, { deadline: 1_000 }, DeadlineError],
  ])("is not read, and its body is cancelled, after %s", async (_, call, options, kind) => {
    const clock = createManualClock();
    const sent = Promise.withResolvers<void>();
    const late = Promise.withResolvers<Response>();
    const heads: unknown[] = [];
    const partner = partnerWith({
      clock,
      retry: { retries: 0 },
      hooks: { onResponse: (event) => heads.push(event) },
      fetch: () => {
        sent.resolve();
        return late.promise;
      },
    });
    const outcome = rejection(call(partner, options));
    await sent.promise;
    await clock.advance(1_000);
    expect(await outcome).toBeInstanceOf(kind);
    const { response, state } = endless();
    late.resolve(response);
    await expect.poll(() => state.canceled).toBe(true);
    expect([heads, clock.pending]).toEqual([[], 0]);
  });
});

describe("a body that is being read when its call ends, from a fetch that ignores its signal", () => {
  it.each([
    ["a timeout", get, { timeout: 1_000 }, RequestTimeoutError],
    ["a deadline", get, { deadline: 1_000 }, DeadlineError],
  ])("is cancelled after %s", async (_, call, options, kind) => {
    const clock = createManualClock();
    const { response, state } = endless();
    const fetch = async () => response;
    const partner = partnerWith({ clock, fetch, retry: { retries: 0 } });
    const outcome = rejection(call(partner, options));
    await clock.advance(1_000);
    expect(await outcome).toBeInstanceOf(kind);
    expect(await outcome).toMatchObject({
      endpoint: "GET /orders/{orderReference}",
      message: expect.stringMatching(/\b1000 ms\b/),
    });
    expect([state.canceled, clock.pending]).toEqual([true, 0]);
  });
});
