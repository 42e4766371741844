import { type PartnerClock, PodPartner, type RequestOptions, RequestValidationError } from "pod-partner";
import { sampleImage } from "pod-partner/testing";
import { beforeEach, describe, expect, it } from "vitest";
import type { ListOptions } from "../../src/pagination/paginator.ts";
import type { WaitOptions } from "../../src/resources/renders/render-waiting.ts";
import { rejection } from "../support/exchange.ts";
import { partnerWith, secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { type Refusal, useRefusals } from "../support/refusals.ts";

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
    ["a signal instead of options", read(AbortSignal.timeout(1_000) as never), [["options"]]],
    ["a list instead of options", read([] as never), [["options"]]],
    ["a JSON body for an image", (partner) => partner.images.upload(sampleImage(), { body: {} }), [["body"]]],
    ["a JSON body for an image once", (partner) => partner.images.uploadOnce(sampleImage(), { body: {} }), [["body"]]],
    ["a JSON body for evidence", (partner) => partner.evidence.upload(sampleImage(), { body: {} }), [["body"]]],
    ["text as headers", read({ headers: "accept: */*" as never }), [["headers"]]],
    ["an iterator of headers", read({ headers: new Map([["a", "1"]]).entries() as never }), [["headers"]]],
    ["the header __proto__", read({ headers: [["__proto__", "1"]] }), [["headers", "__proto__"]]],
    ["a callId that is not text", read({ callId: 7 as never }), [["callId"]]],
    ["a callId that is empty", read({ callId: "" }), [["callId"]]],
    ["a callId of 201 characters", read({ callId: "a".repeat(201) }), [["callId"]]],
    ["a callId with a line break", read({ callId: "a\nb" }), [["callId"]]],
    ["a callId that ends with a line break", read({ callId: "a\n" }), [["callId"]]],
    ["a callId that begins with a control character", read({ callId: "\u0000a" }), [["callId"]]],
    ...["Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Trailer", "Transfer-Encoding", "Upgrade"].map(
      (name): Refusal => [`the header ${name}`, read({ headers: { [name]: "1" } }), [["headers", name]]],
    ),
  ]);

  accepts([
    ["a prefetch of 0", list({ prefetch: 0 })],
    ["any positive poll interval", wait({ interval: 1 })],
    ["a callId of 200 characters", read({ callId: "a".repeat(200) })],
    ["headers as a list of pairs", read({ headers: [["x-trace", "1"]] })],
  ]);
});

describe("a query of 100,000 values that cannot be sent", () => {
  it("is checked up to the hundredth, in a message of a few kB", async () => {
    let checked = 0;
    const watched = new Proxy([{}], {
      get: (values, name, proxy) => {
        if (name === "length") checked += 1;
        return Reflect.get(values, name, proxy);
      },
    });
    const query = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`name${index}`, watched as never]));
    const partner = partnerWith();
    const error = await rejection(partner.rendertokens.get({ query }));
    if (!(error instanceof RequestValidationError)) throw error;
    expect(error.issues).toHaveLength(100);
    expect(error.message).toMatch(/and 99,\d\d\d more$/);
    expect(error.message.length).toBeLessThan(3_000);
    expect(checked).toBeLessThan(1_000);
  });
});

describe("100,000 headers that cannot be sent", () => {
  it("are checked up to the hundredth, in a message of a few kB", async () => {
    let checked = 0;
    const headers = {
      *[Symbol.iterator]() {
        for (; checked < 100_000; checked += 1) yield ["a b", "1"];
      },
    };
    const partner = partnerWith();
    const error = await rejection(partner.rendertokens.get({ headers: headers as never }));
    if (!(error instanceof RequestValidationError)) throw error;
    expect(error.issues).toHaveLength(100);
    expect(error.message.length).toBeLessThan(3_000);
    expect(checked).toBeLessThan(1_000);
  });
});

describe("options with a getter that gives its value once", () => {
  /** An object that throws when one of its values is read a second time. */
  function once<Given extends object>(fields: Given): Given {
    const read = new Set<PropertyKey>();
    return new Proxy(fields, {
      get: (target, name, proxy) => {
        if (Object.hasOwn(target, name) && read.size === read.add(name).size) throw new Error(`${String(name)} again`);
        return Reflect.get(target, name, proxy);
      },
    });
  }
  let sent = 0;
  const fetch = async () => {
    sent += 1;
    return Response.json({});
  };
  beforeEach(() => {
    sent = 0;
  });

  it.each<[string, RequestOptions]>([
    ["the options", once({ timeout: 5_000, priority: "high" })],
    ["the query", { query: once({ page: 2 }) }],
    ["the retries", { retry: once({ retries: 0 }) }],
  ])("are read once: %s", async (_, options) => {
    const partner = partnerWith({ fetch });
    await partner.request("GET", "/any", options);
    expect(sent).toBe(1);
  });

  it("are read once: the client's own", async () => {
    const clock: PartnerClock = { now: () => 0, after: () => () => undefined };
    const partner = new PodPartner(once({ baseUrl: "https://partner.example/v2", secretKey, fetch, clock }));
    await partner.request("GET", "/any");
    expect(sent).toBe(1);
  });
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
    const partner = partnerWith({ fetch: silent, clock: early });
    expect(await rejection(partner.orders.get(ref("Order"), { deadline: 500 }))).toMatchObject({
      name: "DeadlineError",
      message: "The call's deadline of 500 ms is over: the call was not finished.",
    });
  });
});
