import { tracingChannel } from "node:diagnostics_channel";
import { inspect } from "node:util";
import * as sdk from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { secretKey, useService } from "../support/partner.ts";
import { jpeg } from "../support/pictures.ts";
import { ref } from "../support/references.ts";
import { shown } from "../support/shown.ts";
import { type StubResponse, startStubService } from "../support/stub-service.ts";

function expectSilence(value: unknown): void {
  expect(shown(value).includes(secretKey), "the secret key shows").toBe(false);
}

/** A service that repeats the key in every place that it can. */
const echo = (status: number, more: object = {}): StubResponse => ({
  status,
  headers: { "x-echo": secretKey, "set-cookie": `key=${secretKey}`, location: `http://127.0.0.1:9/?key=${secretKey}` },
  body: { code: `bad_${secretKey}`, message: `The key ${secretKey} is wrong.`, [secretKey]: [{ secretKey }], ...more },
});
const render = (status: string): StubResponse => ({
  body: {
    render: {
      reference: ref("Render"),
      compositionReference: ref("Composition"),
      imageReference: ref("Image"),
      status,
      created: "2026-11-20T09:00:00.000Z",
      reason: secretKey,
    },
  },
});
const never = () => new Promise<never>(() => undefined);
const hangUp = () => Promise.reject(new Error("the stub hangs up"));

/** Calls `report` with each event of the tracing channels, until the returned function is called. */
function trace(report: (...all: unknown[]) => void): () => void {
  const channels = ["call", "attempt"].flatMap((kind) => {
    const { start, asyncEnd } = tracingChannel(`pod-partner:${kind}`);
    return [start, asyncEnd];
  });
  for (const channel of channels) channel.subscribe(report);
  return () => {
    for (const channel of channels) channel.unsubscribe(report);
  };
}

describe("the secret key is never shown (law 1)", () => {
  const context = useService();

  it("is found by the search of these tests when it is shown", () => {
    expect(shown({ deep: [{ key: secretKey }] })).toContain(secretKey);
    expect(shown(new Error("x", { cause: new Error(secretKey) }))).toContain(secretKey);
  });

  it("in the client", () => expectSilence(context.partner));

  it("in any resource of the client, its rate limits and its methods", () => {
    const { partner } = context;
    for (const part of [...Object.values(partner), partner.rateLimits, partner.request]) expectSilence(part);
    expect(Object.keys(partner)).toContain("orders");
  });

  it("in a call before and after its response, a list and a download", async () => {
    context.service.respond({ body: { message: "Yes." } }, { body: jpeg });
    const call = context.partner.auth.validate();
    expectSilence(call);
    await call;
    expectSilence(call);
    expectSilence(await call.withResponse());
    expectSilence(context.partner.orders.list());
    const download = await context.partner.renders.media(ref("Render"));
    expectSilence(download);
    await download.bytes();
    expectSilence(context.partner);
  });

  it.each([202, 300, 302, 304, 400, 401, 403, 404, 409, 410, 418, 429, 500, 501, 503])(
    "in the error for a %i that repeats it everywhere",
    async (status) => {
      context.service.respond(status === 304 ? { ...echo(304), body: undefined } : echo(status));
      const { renders, shipments } = context.partner;
      const error = await rejection(status === 202 ? renders.media(ref("Render")) : shipments.get(ref("Shipment")));
      if (!sdk.ApiError.isInstance(error)) throw error;
      expect(error.status).toBe(status);
      expectSilence(error);
    },
  );

  it.each([
    ["JSON", { order: { reference: secretKey } }],
    ["text", `<b>${secretKey}</b>`],
    ["broken JSON", `{"key": "${secretKey}"`],
  ])("in the error for a response that breaks its schema, in %s", async (_, body) => {
    context.service.respond({ ...echo(200), body });
    const error = await rejection(context.partner.orders.get(ref("Order")));
    expect(sdk.ResponseValidationError.isInstance(error)).toBe(true);
    expectSilence(error);
  });

  const orders = () => context.partner.orders;
  const errors: Record<string, readonly [StubResponse | typeof never, () => PromiseLike<unknown>]> = {
    RendertokenLimitError: [
      echo(429, { code: "rendertoken_limit_exceeded" }),
      () => context.partner.renders.create({ compositionReference: ref("Composition"), imageReference: ref("Image") }),
    ],
    ConnectionError: [hangUp, () => orders().get(ref("Order"))],
    RequestTimeoutError: [never, () => orders().get(ref("Order"), { timeout: 20 })],
    DeadlineError: [never, () => orders().get(ref("Order"), { deadline: 20 })],
    OutcomeUnknownError: [hangUp, () => orders().create(combinedOrder)],
    CursorLoopError: [{ body: { orders: [], nextCursor: secretKey } }, () => orders().list().toArray()],
    RequestValidationError: [echo(200), () => orders().get(secretKey as never)],
    RenderFailedError: [render("failed"), () => context.partner.renders.wait(ref("Render"))],
    WaitTimeoutError: [render("pending"), () => context.partner.renders.wait(ref("Render"), { deadline: 1_000 })],
  };

  it.each(Object.entries(errors))("in a %s", async (name, [response, call]) => {
    context.service.respondAlways(response);
    const error = await rejection(call());
    expect(error).toMatchObject({ name });
    expectSilence(error);
  });

  it("in the error for a service that does not respond", async () => {
    const gone = await startStubService();
    await gone.close();
    const partner = new sdk.PodPartner({ baseUrl: gone.baseUrl, secretKey, retry: { retries: 0 } });
    const error = await rejection(partner.auth.validate());
    expect(sdk.ConnectionError.isInstance(error)).toBe(true);
    expectSilence(error);
  });

  it.each(["", "nonsense", "ftp://127.0.0.1/v2", "http://127.0.0.1:9/v1"])(
    "in the error for the base URL %j",
    (baseUrl) => {
      let error: unknown;
      try {
        new sdk.PodPartner({ baseUrl, secretKey });
      } catch (thrown) {
        error = thrown;
      }
      expect(sdk.ConfigurationError.isInstance(error)).toBe(true);
      expectSilence(error);
    },
  );

  it.each([
    ...["http://user:pw5up3r@h/v2", "http:user:pw5up3r@h/v2", "http:/user:pw5up3r@h/v2", "https:///user:pw5up3r@h/v2"],
    ...[
      "http:\\\\user:pw5up3r@h/v2",
      "https:\\/user:pw5up3r@h/v2",
      "ht\ntp://user:pw5up3r@h/v2",
      "http:\t//:pw5up3r@h/v2",
    ],
    ...["  http:pw5up3r@h/v2", "http://user:pw5up3r%40@h/v2", "HTTP:USER:pw5up3r@h\\v2"],
    // These cannot be parsed.
    ...["http://user:pw5up3r@[/v2", "http://user:pw5up3r@/v2", "http://user:pw5up3r@h:99999/v2", "//user:pw5up3r@h/v2"],
    ...["user:pw5up3r@h/v2", "ftp://user:pw5up3r@h/v2", "http://user:pw5up3r@h/v1"],
  ])("and a password is not shown in the error for the base URL %j", async (baseUrl) => {
    const error = await rejection((async () => new sdk.PodPartner({ baseUrl, secretKey }))());
    if (!sdk.ConfigurationError.isInstance(error)) throw error;
    expect(error.issues.map(({ path }) => path)).toContainEqual(["baseUrl"]);
    expect(shown(error)).not.toMatch(/pw5up3r/i);
  });

  const failed = (words: unknown) => new TypeError(`no way: ${words}`);
  it.each<[how: string, thrown: (init: RequestInit) => unknown]>([
    ["in its message", (init) => failed(JSON.stringify(init.headers))],
    ["as a field", (init) => Object.assign(failed("?"), { headers: init.headers })],
    ["deep in a field", (init) => Object.assign(failed("?"), { config: { request: { headers: init.headers } } })],
    ["as a Request", (init) => Object.assign(failed("?"), { request: new Request("http://127.0.0.1/", init) })],
    ["under a symbol", (init) => Object.assign(failed("?"), { [Symbol("request")]: init })],
    ["in a map", (init) => Object.assign(failed("?"), { seen: new Map([["init", init]]) })],
    ["in its name", (init) => Object.assign(failed("?"), { name: JSON.stringify(init.headers) })],
    ["in its code", (init) => Object.assign(failed("?"), { code: JSON.stringify(init.headers) })],
    ["in its cause", (init) => new TypeError("?", { cause: Object.assign(failed("?"), { init }) })],
    ["in a cause that is not an Error", (init) => new TypeError("?", { cause: init })],
    ["in one of several errors", (init) => new AggregateError([Object.assign(failed("?"), { init })])],
    ["in a value that is not an Error", (init) => ({ init })],
    ["in a string", (init) => JSON.stringify(init)],
  ])("in the error for a `fetch` of the caller's that fails and reports its request %s", async (_, thrown) => {
    const fetch = (_: Request, init: RequestInit = {}) => Promise.reject(thrown({ headers: init.headers ?? {} }));
    const partner = new sdk.PodPartner({ baseUrl: context.service.baseUrl, secretKey, fetch, retry: { retries: 0 } });
    const error = await rejection(partner.auth.validate());
    expect(sdk.ConnectionError.isInstance(error)).toBe(true);
    expectSilence(error);
    expectSilence(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true }));
    if (sdk.ConnectionError.isInstance(error)) expectSilence(error.cause);
  });

  it("in the issues that a schema of the caller's reports", async () => {
    const reported: unknown[] = [];
    const partner = new sdk.PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      hooks: { onInvalidResponse: (event) => reported.push(event) },
    });
    context.service.respond({ body: { [secretKey]: secretKey } });
    const schema = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) => ({ issues: [{ message: JSON.stringify(value), path: [secretKey] }] }),
      },
    };
    const error = await rejection(partner.request("GET", "/anything", { schema }));
    expect(sdk.ResponseValidationError.isInstance(error)).toBe(true);
    expectSilence(error);
    expectSilence(reported);
  });

  const options: sdk.RequestOptions = Object({ [secretKey]: 1 });
  it.each<[place: string, call: (partner: sdk.PodPartner) => PromiseLike<unknown>]>([
    ["the path of a request", (partner) => partner.request("GET", `/keys/${secretKey}`)],
    ["a path that is refused", (partner) => partner.request("GET", `keys/${secretKey}`)],
    ["an unknown option", (partner) => partner.orders.get(ref("Order"), options)],
    ["an unknown field", (partner) => partner.orders.create({ ...combinedOrder, ...options })],
    ["the path of a file", (partner) => partner.images.upload(`/no/such/${secretKey}`)],
    ["the name of a call", (partner) => partner.orders.get(ref("Order"), { callId: secretKey })],
  ])("in the error and the events of a call whose caller put it into %s", async (_, call) => {
    const reported: unknown[] = [];
    const report = (...all: unknown[]) => void reported.push(all);
    const stopTracing = trace(report);
    const partner = new sdk.PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      hooks: { onRequest: report, onResponse: report },
      logger: { debug: report, info: report, warn: report, error: report },
    });
    context.service.respond({ status: 404, body: { code: "not_found", message: "?" } });
    const error = await rejection(call(partner));
    stopTracing();
    expect(sdk.PodPartnerError.isInstance(error)).toBe(true);
    expectSilence(error);
    expectSilence(reported);
    expect(reported.length).toBeGreaterThan(0);
  });

  it("in the events of the hooks, the logger and the tracing channels", async () => {
    const reported: unknown[] = [];
    const report = (...all: unknown[]) => void reported.push(all);
    const stopTracing = trace(report);
    const partner = new sdk.PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      retry: { retries: 1, baseDelay: 0, maxDelay: 0 },
      hooks: { onRequest: report, onResponse: report, onRetry: report, onPause: report, onInvalidResponse: report },
      logger: { debug: report, info: report, warn: report, error: report },
    });
    context.service.respond(echo(503), { body: { order: { reference: secretKey } } });
    await rejection(partner.orders.get(ref("Order")));
    stopTracing();
    // Two requests, two responses, one retry and one invalid response, each to a hook; the log; the call and both attempts.
    expect(reported).toHaveLength(18);
    expectSilence(reported);
  });
});
