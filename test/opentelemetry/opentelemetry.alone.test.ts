import { createRequire } from "node:module";
import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { registerInstrumentations } from "@opentelemetry/instrumentation";
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http";
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { PodPartner } from "pod-partner";
import { instrument } from "pod-partner/opentelemetry";
import { type RunningEmulator, startEmulator } from "pod-partner/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { orderOf } from "../http/matrix/subjects.ts";
import { rejection } from "../support/exchange.ts";
import { createFastClock } from "../support/fast-clock.ts";
import { transports } from "../support/transports.ts";

const exporter = new InMemorySpanExporter();
const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 });
const meterProvider = new MeterProvider({ readers: [reader] });
let disable: () => void;
let emulator: RunningEmulator;
/** Waits take no time, except the timeout of an attempt. */
const clock = createFastClock(20, { kept: 30_000 });

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const http = new HttpInstrumentation({ ignoreIncomingRequestHook: () => true });
  disable = registerInstrumentations({ tracerProvider, instrumentations: [new UndiciInstrumentation(), http] });
  // The instrumentation of `node:http` begins with its first `require`.
  createRequire(import.meta.url)("node:http");
});
beforeEach(async () => {
  // A bucket of 2: the third request waits.
  emulator = await startEmulator({ clock, limits: { default: { quota: 2, window: 1_000 } } });
});
afterEach(async () => {
  exporter.reset();
  await emulator.close();
});
afterAll(async () => {
  disable();
  context.disable();
  await meterProvider.shutdown();
});

/** The names of the spans below one, as a tree. */
function treeOf(spans: readonly ReadableSpan[], parent: string | undefined): unknown[] {
  return spans
    .filter((span) => span.parentSpanContext?.spanId === parent)
    .toSorted((one, other) => one.startTime[0] - other.startTime[0] || one.startTime[1] - other.startTime[1])
    .map((span) => {
      const below = treeOf(spans, span.spanContext().spanId);
      return below.length === 0 ? span.name : { [span.name]: below };
    });
}

const named = (name: string): ReadableSpan => {
  const span = exporter.getFinishedSpans().find((one) => one.name === name);
  if (span === undefined) throw new Error(`there is no span ${name}`);
  return span;
};

describe.each(transports)("a trace of `orders.ensure` over $name", ({ over }) => {
  it("has each step below its call, each request once, and no secret, reference or address", async () => {
    const partner = new PodPartner({ ...emulator.clientOptions, clock, ...over });
    const stop = instrument(partner, { tracerProvider });
    await partner.auth.validate();
    exporter.reset();
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });
    const order = orderOf(emulator, `traced-${performance.now()}`);
    const tracer = tracerProvider.getTracer("shop");
    const placed = await tracer.startActiveSpan("checkout", async (span) => {
      const ensured = await partner.orders.ensure(order);
      span.end();
      return ensured;
    });
    stop();
    expect(placed.recovered).toBe(true);

    const spans = exporter.getFinishedSpans();
    // What the instrumentation of undici or `node:http` makes is the only span below an attempt.
    const request = (method: string) => ({ attempt: [expect.stringMatching(new RegExp(`^${method}( |$)`))] });
    const lookUp = "GET /utilities/lookup-order-reference-by-custom-identifier";
    const withQueue = (tree: unknown) => JSON.parse(JSON.stringify(tree).replaceAll('"queue",', ""));
    const get = "GET /orders/{orderReference}";
    const [tree] = treeOf(spans, undefined);
    expect(withQueue(tree)).toEqual({
      checkout: [
        {
          "POST /orders": [
            { lookup: [{ [lookUp]: [request("GET")] }] },
            request("POST"),
            { lookup: [{ [lookUp]: [request("GET")] }] },
            { lookup: [{ [get]: [request("GET")] }] },
            { lookup: [{ "GET /addresses/{addressReference}": [request("GET")] }] },
          ],
        },
      ],
    });
    expect(spans.filter((span) => span.name === "queue").length).toBeGreaterThan(0);
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
    const own = spans.filter((span) => span.instrumentationScope.name === "pod-partner");
    // The first look-up finds no order, which is no failure. Only the connection of the order's attempt broke.
    const failed = own.filter(({ status }) => status.code === SpanStatusCode.ERROR);
    expect(failed.map((span) => span.name)).toEqual(["attempt"]);
    const missed = own.find((span) => span.name === lookUp);
    expect(missed?.attributes["http.response.status_code"]).toBe(404);
    expect(missed?.attributes).not.toHaveProperty("error.type");
    const texts = JSON.stringify(
      own.map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
    );
    expect(texts).not.toMatch(/Order_|Store_|Product_|traced-/);
    expect(texts).not.toContain(emulator.secretKey);
  });

  it("says what a call was, by the conventions for HTTP clients", async () => {
    const partner = new PodPartner({ ...emulator.clientOptions, clock, ...over });
    const stop = instrument(partner, { tracerProvider });
    const error = await rejection(partner.orders.get("Order_00000000000000000000000000", { callId: "job-7" }));
    stop();
    const { hostname, port } = new URL(emulator.baseUrl);
    const call = named("GET /orders/{orderReference}");
    expect(call).toMatchObject({
      kind: SpanKind.CLIENT,
      status: { code: 2 },
      attributes: {
        "http.request.method": "GET",
        "url.template": "/orders/{orderReference}",
        "server.address": hostname,
        "server.port": Number(port),
        "http.response.status_code": 404,
        "error.type": "404",
        "pod_partner.call_id": "job-7",
      },
    });
    expect(call.status).toEqual({ code: 2 });
    expect(named("attempt")).toMatchObject({
      kind: SpanKind.INTERNAL,
      attributes: { "http.response.status_code": 404, "pod_partner.outcome": "404" },
    });
    expect(error).toMatchObject({ callId: "job-7" });
  });
});

describe("instrument", () => {
  it("shows identifiers and messages only with `identifiers: true`", async () => {
    const partner = new PodPartner({ ...emulator.clientOptions, clock });
    const stop = instrument(partner, { tracerProvider, identifiers: true });
    await rejection(partner.orders.get("Order_00000000000000000000000000"));
    stop();
    expect(named("attempt").attributes["url.full"]).toBe(`${emulator.baseUrl}/orders/Order_00000000000000000000000000`);
    expect(named("GET /orders/{orderReference}").status.message).toContain("404");
  });

  it("shows no secret key, also where a URL has it", async () => {
    const partner = new PodPartner({ ...emulator.clientOptions, clock });
    const stop = instrument(partner, { tracerProvider, identifiers: true });
    const { secretKey } = emulator;
    await rejection(partner.request("GET", `/media/${secretKey}`, { query: { key: secretKey } }));
    await rejection(partner.catalog.products.layerImage(`${emulator.baseUrl}/media/x.png?key=${secretKey}`));
    stop();
    // Another instrumentation makes spans of Node's requests, too.
    const own = exporter
      .getFinishedSpans()
      .filter(({ instrumentationScope }) => instrumentationScope.name === "pod-partner");
    const spans = own.map(({ name, attributes, status }) => ({ name, attributes, status }));
    expect(JSON.stringify(spans)).toContain("/media/[redacted]");
    expect(JSON.stringify(spans)).toContain("x.png?key=[redacted]");
    expect(JSON.stringify(spans)).not.toContain(secretKey);
  });

  it("makes no span of another client, and none after it was stopped", async () => {
    const partner = new PodPartner({ ...emulator.clientOptions, clock });
    const other = new PodPartner({ ...emulator.clientOptions, clock });
    const stop = instrument(partner, { tracerProvider });
    await other.auth.validate();
    stop();
    await partner.auth.validate();
    expect(exporter.getFinishedSpans().filter((span) => span.name === "POST /auth/validate")).toEqual([]);
  });

  it("measures calls, requests, queues, look-ups and unknown outcomes", async () => {
    const partner = new PodPartner({ ...emulator.clientOptions, clock, retry: { retries: 1, baseDelay: 1 } });
    const stop = instrument(partner, { tracerProvider, meterProvider });
    await Promise.all([1, 2, 3, 4].map(() => partner.auth.validate()));
    emulator.faults.add({ on: "POST /orders", fault: "status", status: 503, when: "before" });
    emulator.faults.add({ on: "orders.lookup", fault: "status", status: 503 });
    await rejection(partner.orders.create(orderOf(emulator, "measured")));
    await meterProvider.forceFlush();
    stop();
    const [resource] = metricExporter.getMetrics().slice(-1);
    const metrics = resource?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
    const pointsOf = (name: string) => metrics.find((one) => one.descriptor.name === name)?.dataPoints ?? [];
    const total = (name: string, attributes: object) =>
      pointsOf(name)
        .filter((point) => Object.entries(attributes).every(([key, value]) => point.attributes[key] === value))
        .reduce((sum, { value }) => sum + (typeof value === "number" ? value : (value as { count: number }).count), 0);
    const validate = { "url.template": "/auth/validate" };
    expect(total("pod_partner.call.duration", { ...validate, "http.response.status_code": 200 })).toBe(4);
    expect(total("pod_partner.attempts", { ...validate, "http.response.status_code": 200 })).toBe(4);
    expect(total("pod_partner.queue.duration", { "pod_partner.policy": "default" })).toBeGreaterThanOrEqual(2);
    expect(total("pod_partner.call.duration", { "error.type": "OutcomeUnknownError" })).toBe(1);
    expect(total("pod_partner.outcome_unknown", {})).toBe(1);
    expect(total("pod_partner.lookups", { "url.template": "/orders" })).toBeGreaterThan(0);
    expect(pointsOf("pod_partner.tokens.remaining").map((point) => point.attributes["pod_partner.policy"])).toContain(
      "default",
    );
    expect(pointsOf("pod_partner.queue.length").every(({ value }) => value === 0)).toBe(true);
  });
});

describe("a tracer that is broken", () => {
  const span = { setAttributes: () => {}, setAttribute: () => {}, setStatus: () => {}, end: () => {} };
  const broken = {
    "throws at the start": () => {
      throw new Error("broken");
    },
    "never runs the work, and never ends": () => new Promise(() => {}),
    "runs the work later": async (...[, , work]: Start) => {
      await new Promise(setImmediate);
      return work(span);
    },
    "forgets the promise of the work": (...[, , work]: Start) => void work(span),
    "throws at the end": (...[, , work]: Start) =>
      work({
        ...span,
        end: () => {
          throw new Error("broken");
        },
      }),
  };
  type Start = readonly [name: string, options: object, work: (one: typeof span) => Promise<unknown>];

  it.each(Object.entries(broken))("places the order once when it %s", async (_, startActiveSpan) => {
    const partner = new PodPartner({ ...emulator.clientOptions, clock });
    // It breaks the contract of OpenTelemetry, so that it does not have its types.
    const stop = instrument(partner, { tracerProvider: { getTracer: () => ({ startActiveSpan }) } as never });
    const placed = await partner.orders.ensure(orderOf(emulator, `broken-${performance.now()}`));
    stop();
    expect(placed).toMatchObject({ existed: false });
    expect(emulator.requests.filter(({ call }) => call === "orders.create")).toHaveLength(1);
  });
});

it("makes no span outside a call", () => {
  expect(trace.getActiveSpan()).toBeUndefined();
});
