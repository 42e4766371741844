/**
 * Spans and metrics.
 *
 * @module pod-partner/opentelemetry
 */

import {
  type Attributes,
  type MeterProvider,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace as traces,
} from "@opentelemetry/api";
import { ApiError } from "../errors/api.ts";
import { PodPartnerError } from "../errors/base.ts";
import type { RateLimits } from "../http/pacing/forecast.ts";
import { type CallTrace, type CallTracer, failureIn } from "../http/tracing.ts";
import type { StorageHealth } from "../storage/client-storage.ts";
import { systemClock } from "../util/clock.ts";
import { endingOf, safely } from "../util/foreign.ts";
import { assertRuntime, version } from "../util/runtime.ts";

assertRuntime();

/** What {@link instrument} needs of a client. */
export interface Observable {
  readonly rateLimits: RateLimits;
  readonly storage: StorageHealth;
  "~follow"(tracer: CallTracer): () => void;
}

/** Options of {@link instrument}. */
export interface InstrumentOptions {
  /** Makes the spans. Default: the global one of `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Makes the metrics. Default: the global one of `@opentelemetry/api`. */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * Whether spans show what identifies an order, a claim or a render: the URL of each attempt, the identifiers and the message of an
   * error. The secret key is in none of them. Default false.
   */
  readonly identifiers?: boolean | undefined;
}

const name = "pod-partner";

function serverOf(baseUrl: string): Attributes {
  const { protocol, hostname, port } = new URL(baseUrl);
  return {
    "server.address": hostname.replace(/^\[|\]$/g, ""),
    "server.port": Number(port) || (protocol === "http:" ? 80 : 443),
  };
}

/** The attributes of each span and each duration of a call, by the conventions for HTTP clients. */
const attributesOf = ({ method, template, baseUrl }: CallTrace): Attributes => ({
  "http.request.method": method,
  ...serverOf(baseUrl),
  ...(template !== undefined && { "url.template": template }),
});

/** `error.type`: the HTTP status of an error response, or else the name of the error. The reason of an abort is the caller's. */
function errorTypeOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  if (error instanceof ApiError) return String(error.status);
  return error instanceof PodPartnerError ? endingOf(error) : "aborted";
}

/** Sets what is known at the end. An undefined attribute is left out. */
function endSpan(span: Span, trace: CallTrace, identifiers: boolean): void {
  const { kind, status, policy, reason, outcome } = trace;
  const error = failureIn(trace);
  span.setAttributes({
    "http.response.status_code": status,
    "error.type": errorTypeOf(error),
    "pod_partner.policy": policy,
    "pod_partner.reason": reason,
    "pod_partner.outcome": kind === "call" || kind === "queue" ? undefined : outcome,
  } satisfies Record<string, Attributes[string]>);
  if (error === undefined) return;
  const known = error instanceof PodPartnerError ? error : undefined;
  if (known?.code !== undefined) span.setAttribute("pod_partner.error_code", known.code);
  for (const [key, value] of Object.entries((identifiers && known?.identifiers) || {})) {
    span.setAttribute(`pod_partner.identifiers.${key}`, typeof value === "string" ? value : JSON.stringify(value));
  }
  // The message of an error can quote an order.
  const message = identifiers ? known?.message : undefined;
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
}

/** Makes the tracer that runs each call and each of its steps inside a span. */
function spanTracer(provider: TracerProvider, identifiers: boolean): CallTracer {
  const tracer = provider.getTracer(name, version);
  return (trace, work, url) => {
    const { kind, method, template, callId, attempt = 0 } = trace;
    const isCall = kind === "call";
    const attributes: Attributes = isCall
      ? { ...attributesOf(trace), "pod_partner.call_id": callId }
      : {
          ...(kind === "attempt" && { "http.request.method": method }),
          ...(attempt > 1 && { "http.request.resend_count": attempt - 1 }),
          ...(identifiers && url !== undefined && { "url.full": url }),
        };
    const title = isCall ? [method, template].filter((word) => word !== undefined).join(" ") : kind;
    const options = { kind: isCall ? SpanKind.CLIENT : SpanKind.INTERNAL, attributes };
    return tracer.startActiveSpan(title, options, (span) => {
      const end = () => {
        safely(() => endSpan(span, trace, identifiers));
        safely(() => span.end());
      };
      // It ends before the caller's code goes on. The caller gets the error from the work itself.
      return work().then(end, end);
    });
  };
}

/** Makes the tracer that measures, and the gauges of the rate limits. */
function measuring(
  provider: MeterProvider,
  partner: Observable,
): { readonly tracer: CallTracer; readonly stop: () => void } {
  const meter = provider.getMeter(name, version);
  const calls = meter.createHistogram("pod_partner.call.duration", {
    unit: "s",
    description: "Time from the call of a method to its result, queue and retries included.",
    advice: { explicitBucketBoundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] },
  });
  const queue = meter.createHistogram("pod_partner.queue.duration", {
    unit: "s",
    description: "Time that calls waited for their turn to be sent.",
    advice: { explicitBucketBoundaries: [0.1, 0.3, 1, 3, 10, 30, 60, 120, 300] },
  });
  const attempts = meter.createCounter("pod_partner.attempts", { description: "Requests that were sent." });
  const lookups = meter.createCounter("pod_partner.lookups", {
    description: "Look-ups of what a lost response may have created, and reads of a status.",
  });
  const unknown = meter.createCounter("pod_partner.outcome_unknown", {
    description: "Calls that may or may not have created or changed something.",
  });
  // An alert on its increase needs a first value. So it has no attributes: each new one would begin with 1.
  unknown.add(0);
  const remaining = meter.createObservableGauge("pod_partner.tokens.remaining", {
    description: "Tokens left in the bucket of a rate-limit policy, as far as this process knows.",
  });
  const quota = meter.createObservableGauge("pod_partner.tokens.quota", {
    description: "Tokens that the bucket of a rate-limit policy holds.",
  });
  const waiting = meter.createObservableGauge("pod_partner.queue.length", {
    description: "Calls of this client that wait for a token of a policy.",
  });
  const storage = meter.createObservableGauge("pod_partner.storage.lost", {
    description: "1 while the storage of the client cannot be reached, else 0.",
  });
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = (result) => {
    for (const [policy, limit] of Object.entries(partner.rateLimits.policies)) {
      const attributes = { "pod_partner.policy": policy };
      result.observe(remaining, Math.floor(limit.remaining), attributes);
      result.observe(quota, limit.quota, attributes);
      result.observe(waiting, limit.waiting, attributes);
    }
    result.observe(storage, partner.storage.state === "lost" ? 1 : 0);
  };
  const gauges = [remaining, quota, waiting, storage];
  meter.addBatchObservableCallback(observe, gauges);

  const measure = (trace: CallTrace, seconds: number) => {
    const { kind, isPart, status, policy, outcome } = trace;
    const error = failureIn(trace);
    const errorType = errorTypeOf(error);
    const result: Attributes = {
      ...attributesOf(trace),
      ...(status !== undefined && { "http.response.status_code": status }),
      ...(errorType !== undefined && { "error.type": errorType }),
    };
    if (kind === "call" && !isPart) calls.record(seconds, result);
    if (kind === "call" && !isPart && endingOf(error) === "OutcomeUnknownError") unknown.add(1);
    if (kind === "attempt") attempts.add(1, result);
    if (kind === "queue") queue.record(seconds, { "pod_partner.policy": policy ?? "default" });
    if (kind === "lookup") lookups.add(1, { ...attributesOf(trace), "pod_partner.outcome": outcome });
  };
  const tracer: CallTracer = (trace, work) => {
    const began = systemClock.now();
    const end = () => safely(() => measure(trace, (systemClock.now() - began) / 1_000));
    return work().then(end, end);
  };
  return { tracer, stop: () => meter.removeBatchObservableCallback(observe, gauges) };
}

/**
 * Makes OpenTelemetry spans and metrics of all calls of a client.
 *
 * Each call is a client span by the HTTP conventions, such as `POST /orders`, with a child for each of its steps: `queue`, `attempt`,
 * `backoff`, `retry-after`, `lookup` and `poll`. Spans of the instrumentation of undici or `node:http` are children of `attempt`.
 * Spans and metrics have no key, no body and no address, and without the option `identifiers` no reference.
 *
 * @returns a function that ends it.
 * @example
 * const stop = instrument(partner);
 */
export function instrument(partner: Observable, options: InstrumentOptions = {}): () => void {
  const { tracerProvider = traces.getTracerProvider(), meterProvider = metrics.getMeterProvider() } = options;
  const spans = spanTracer(tracerProvider, options.identifiers === true);
  const { tracer, stop } = measuring(meterProvider, partner);
  const stops = [partner["~follow"](tracer), partner["~follow"](spans), stop];
  return () => {
    for (const each of stops) each();
  };
}
