import { type ListOptions, type PartnerClock, PodPartner, type RequestOptions, type WaitOptions } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { useRefusals } from "../support/refusals.ts";

const list = (options: ListOptions) => (partner: PodPartner) => partner.orders.list(options).toArray();
const wait = (options: WaitOptions) => (partner: PodPartner) => partner.renders.wait(ref("Render"), options);
const file = (interval: number) => (partner: PodPartner) =>
  partner.renders.media(ref("Render"), { wait: { interval } });
const read = (options: RequestOptions) => (partner: PodPartner) => partner.orders.get(ref("Order"), options);

describe("options with endless waits or too many tokens are refused before a request is sent", () => {
  const { refuses, accepts } = useRefusals();

  refuses([
    ["an infinite prefetch", list({ prefetch: Number.POSITIVE_INFINITY }), [["prefetch"]]],
    ["a negative prefetch", list({ prefetch: -1 }), [["prefetch"]]],
    ["a prefetch that is not a number", list({ prefetch: Number.NaN }), [["prefetch"]]],
    ["a poll interval of 0 for a render", wait({ interval: 0 }), [["interval"]]],
    ["a negative poll interval", wait({ interval: -5 }), [["interval"]]],
    ["a poll interval that is not a number", wait({ interval: Number.NaN }), [["interval"]]],
    ["a poll interval of 0 for a file", file(0), [["interval"]]],
    ["an AbortController as the signal", read({ signal: new AbortController() as never }), [["signal"]]],
  ]);

  accepts([
    ["a prefetch of 0", list({ prefetch: 0 })],
    ["any positive poll interval", wait({ interval: 1 })],
  ]);
});

describe("a deadline", () => {
  it("that ends a call is always reported as exceeded, also when its timer fires a moment early", async () => {
    const early: PartnerClock = {
      now: () => 0,
      after: (_, callback) => {
        const timer = setTimeout(callback);
        return () => clearTimeout(timer);
      },
    };
    const silent = () => new Promise<never>(() => undefined);
    const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey, fetch: silent, clock: early });
    expect(await rejection(partner.orders.get(ref("Order"), { deadline: 500 }))).toMatchObject({
      name: "DeadlineError",
      message: "The call's deadline of 500 ms is over: the call was not finished.",
    });
  });
});
