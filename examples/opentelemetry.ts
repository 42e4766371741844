/** Prints the spans and metrics of an order whose response is lost. `npm run build`, then `npx node examples/opentelemetry.ts`. */
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { PodPartner } from "pod-partner";
import { instrument } from "pod-partner/opentelemetry";
import { createEmulator, validOrder } from "pod-partner/testing";

// In production: a BatchSpanProcessor, and exporters for OTLP.
const exporter = new InMemorySpanExporter();
const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const meterProvider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: metricExporter })] });
context.setGlobalContextManager(new AsyncLocalStorageContextManager());

// Two tokens, one more each second. The first order is placed, and its response is lost.
const emulator = createEmulator({ limits: { default: { quota: 2, window: 2_000 } } });
const partner = new PodPartner(emulator.clientOptions);
instrument(partner, { tracerProvider, meterProvider });
await partner.auth.validate();
exporter.reset();
emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });

await tracerProvider.getTracer("shop").startActiveSpan("checkout", async (span) => {
  await partner.orders.ensure(validOrder(emulator, { customIdentifier: "shop-4711" }));
  span.end();
});

/** Prints the spans below one, in the order of their ends. */
function print(parent: string | undefined, indent: string): void {
  const children = exporter.getFinishedSpans().filter((span) => span.parentSpanContext?.spanId === parent);
  for (const child of children) {
    const { name, duration, attributes } = child;
    const [seconds, nanoseconds] = duration;
    const ms = Math.round(seconds * 1_000 + nanoseconds / 1_000_000);
    const { "error.type": error, "pod_partner.outcome": outcome, "pod_partner.reason": reason } = attributes;
    console.log(`${indent}${name}`.padEnd(84), `${ms} ms`.padStart(8), error ?? outcome ?? reason ?? "");
    print(child.spanContext().spanId, `${indent}  `);
  }
}
print(undefined, "");

await meterProvider.forceFlush();
for (const { descriptor, dataPoints } of metricExporter.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? []) {
  for (const { attributes, value } of dataPoints) {
    const { "http.request.method": method, "url.template": template, "pod_partner.policy": policy } = attributes;
    const count = typeof value === "number" ? value : `${value.count} of ${value.sum?.toFixed(3)} s in all`;
    console.log(descriptor.name, [method, template, policy].filter(Boolean).join(" "), count);
  }
}
await meterProvider.shutdown();
