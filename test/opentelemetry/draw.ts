// Draws docs/trace.svg and docs/dashboard.svg from real spans and metrics: `npx node test/opentelemetry/draw.ts`. Needs Prometheus.
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { PodPartner } from "pod-partner";
import { instrument } from "pod-partner/opentelemetry";
import { createEmulator, type Emulator, validOrder } from "pod-partner/testing";
import { type Series, startPrometheus } from "../support/prometheus.ts";
import { type Panel, panels, queryOf } from "./dashboard.ts";

const docs = new URL("../../docs/", import.meta.url);

/** A client of the emulator over a network with a response time. */
const clientOf = (emulator: Emulator): PodPartner => {
  const fetch: typeof globalThis.fetch = async (request, init) => {
    await sleep(40 + 60 * Math.random());
    return emulator.fetch(request, init);
  };
  return new PodPartner({ ...emulator.clientOptions, fetch });
};

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const n = (value: number): string => String(Math.round(value * 10) / 10);

/** The colours of a page in light and in dark mode. The background stays that of the page. */
const style = `
  text { font: 12.5px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #59636e }
  .head { font-size: 18px; font-weight: 600; fill: #1f2328 }
  .title { font-size: 13px; font-weight: 600; fill: #1f2328 }
  .own { font-weight: 600; fill: #1f2328 }
  .bad { fill: #cf222e }
  .grid { stroke: #d1d9e0; stroke-width: 1 }
  .panel { fill: none; stroke: #d1d9e0 }
  .call { fill: #0969da } .step { fill: #8c959f } .queue { fill: #bf8700 } .attempt { fill: #1a7f37 } .failed { fill: #cf222e }
  .lookup { fill: #8250df }
  .line { fill: none; stroke-width: 1.5; stroke-linejoin: round }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 }
    .head, .title, .own { fill: #f0f6fc }
    .bad { fill: #f85149 }
    .grid, .panel { stroke: #3d444d }
    .call { fill: #4493f8 } .step { fill: #656c76 } .queue { fill: #d29922 } .attempt { fill: #3fb950 } .failed { fill: #f85149 }
    .lookup { fill: #ab7df8 }
  }`;

const svg = (width: number, height: number, title: string, description: string, body: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -4 ${width + 16} ${n(height + 8)}" width="${width + 16}" height="${n(height + 8)}" role="img" aria-labelledby="title description">
  <title id="title">${title}</title>
  <desc id="description">${description}</desc>
  <style>${style}
  </style>
${body}
</svg>
`;

const msOf = ([seconds, nanoseconds]: readonly [number, number]): number => seconds * 1_000 + nanoseconds / 1_000_000;

/** The spans of an order whose response is lost, while other calls use up the tokens. */
async function traceOfAnOrder(): Promise<readonly ReadableSpan[]> {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const emulator = createEmulator({ limits: { default: { quota: 3, window: 1_000 } } });
  const partner = clientOf(emulator);
  instrument(partner, { tracerProvider });
  await partner.auth.validate();
  await partner.auth.validate();
  exporter.reset();
  emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });
  await tracerProvider.getTracer("shop").startActiveSpan("checkout", async (span) => {
    await partner.orders.ensure(validOrder(emulator, { customIdentifier: "shop-4711" }));
    span.end();
  });
  context.disable();
  return exporter.getFinishedSpans();
}

interface Row {
  readonly span: ReadableSpan;
  readonly depth: number;
}

/** The spans in the order of their start, each before those below it. */
function rowsOf(spans: readonly ReadableSpan[], parent: string | undefined, depth: number): readonly Row[] {
  return spans
    .filter((span) => span.parentSpanContext?.spanId === parent)
    .toSorted((one, other) => msOf(one.startTime) - msOf(other.startTime))
    .flatMap((span) => [{ span, depth }, ...rowsOf(spans, span.spanContext().spanId, depth + 1)]);
}

function drawTrace(spans: readonly ReadableSpan[]): string {
  const rows = rowsOf(spans, undefined, 0);
  const [first] = rows;
  if (first === undefined) throw new Error("There are no spans.");
  const [labels, width, top, rowHeight] = [470, 1_080, 66, 22];
  const began = msOf(first.span.startTime);
  const total = msOf(first.span.duration);
  const scale = (width - labels - 150) / total;
  const height = top + rows.length * rowHeight + 14;
  const seconds = Array.from({ length: Math.floor(total / 500) + 1 }, (_, index) => index * 500);
  const grid = seconds.map((ms) => {
    const x = n(labels + ms * scale);
    return `  <line class="grid" x1="${x}" x2="${x}" y1="${top - 8}" y2="${n(height - 8)}"/><text x="${x}" y="${top - 14}" text-anchor="middle">${ms / 1_000} s</text>`;
  });
  const bars = rows.map(({ span, depth }, index) => {
    const { name, attributes, startTime, duration, kind } = span;
    const failed = attributes["error.type"] !== undefined;
    const isCall = kind === 2;
    const shape =
      failed && !isCall ? "failed" : isCall ? "call" : ["queue", "attempt", "lookup"].includes(name) ? name : "step";
    const y = top + index * rowHeight;
    const x = labels + (msOf(startTime) - began) * scale;
    const length = Math.max(2, msOf(duration) * scale);
    const { "pod_partner.reason": reason, "pod_partner.outcome": outcome, "error.type": error } = attributes;
    const note = [`${Math.round(msOf(duration))} ms`, reason ?? (outcome === undefined ? error : outcome)]
      .filter(Boolean)
      .join("  ");
    return `  <text class="${isCall || depth === 0 ? "own" : ""}" x="${depth * 16}" y="${n(y + 13)}">${escaped(name)}</text>
  <rect class="${shape}" x="${n(x)}" y="${n(y + 3)}" width="${n(length)}" height="12" rx="2"/>
  <text class="${failed && !isCall ? "bad" : ""}" x="${n(x + length + 6)}" y="${n(y + 13)}">${escaped(note)}</text>`;
  });
  const heading = `  <text class="head" x="0" y="18">orders.ensure, when the response to the order is lost</text>
  <text x="0" y="38">Every bar is a span. The SDK looks the order up, finds it, and compares it: it is not placed twice.</text>`;
  return svg(
    width,
    height,
    "A trace of orders.ensure with a lost response",
    "The call, its look-ups, queue waits and attempts, with their times.",
    [heading, ...grid, ...bars].join("\n"),
  );
}

/** Ninety seconds of a shop on a small bucket: lists, orders, lost responses, an outage, another program that takes the tokens. */
async function load(emulator: Emulator, partner: PodPartner, until: number): Promise<void> {
  const began = Date.now();
  const { reference } = await partner.orders.ensure(validOrder(emulator, { customIdentifier: "shop-0" }));
  let count = 0;
  const running = new Set<Promise<unknown>>();
  const run = (work: Promise<unknown>) => {
    const done = work.catch(() => undefined).finally(() => running.delete(done));
    running.add(done);
  };
  const outage = { on: "GET /orders/{orderReference}", fault: "status", status: 503 } as const;
  let fault: { remove(): void } | undefined;
  while (Date.now() < until) {
    const second = (Date.now() - began) / 1_000;
    count += 1;
    run(partner.orders.get(reference));
    if (count % 3 === 0) run(partner.orders.ensure(validOrder(emulator, { customIdentifier: `shop-${count}` })));
    if (count % 15 === 0) emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });
    if (count % 10 === 0) run(partner.catalog.productgroups.list());
    if (second > 30 && second < 45 && count % 4 === 0)
      run(Promise.all([1, 2, 3, 4, 5, 6].map(() => partner.auth.validate())));
    if (second > 60 && second < 66) fault ??= emulator.faults.add(outage);
    else {
      fault?.remove();
      fault = undefined;
    }
    if (count === 170) emulator.drain("default");
    await sleep(250);
  }
  await Promise.all(running);
}

const colours = ["#0969da", "#1a7f37", "#bf8700", "#8250df", "#cf222e", "#0a7d91", "#bc4c00"];

const units: Readonly<Record<string, (value: number) => string>> = {
  s: (value) => (value < 1 ? `${Math.round(value * 1_000)} ms` : `${n(value)} s`),
  reqps: (value) => `${n(value)}/s`,
  percentunit: (value) => `${Math.round(value * 100)} %`,
  short: (value) => n(value),
};

function drawPanel(
  { title, type, gridPos, targets, fieldConfig }: Panel,
  all: readonly Series[],
  cell: number,
  [from, to]: readonly [number, number],
): string {
  const [left, top] = [gridPos.x * cell, 50 + gridPos.y * 26];
  const [width, height] = [gridPos.w * cell - 8, gridPos.h * 26 - 8];
  const frame = `  <rect class="panel" x="${left}" y="${top}" width="${width}" height="${height}" rx="4"/>
  <text class="title" x="${left + 10}" y="${top + 20}">${escaped(title)}</text>`;
  const series = all.filter(({ values = [] }) => values.some(([, value]) => Number(value) > 0));
  const format = units[fieldConfig.defaults.unit] ?? n;
  if (type === "stat") {
    const last = Number(series[0]?.values?.at(-1)?.[1] ?? 0);
    return `${frame}
  <text class="${last > 0 ? "bad" : ""}" style="font-size: 44px; font-weight: 600" x="${left + width / 2}" y="${top + height / 2 + 18}" text-anchor="middle">${Math.round(last)}</text>`;
  }
  const points = series.flatMap(({ values = [] }) => values.map(([, value]) => Number(value))).filter(Number.isFinite);
  const highest = fieldConfig.defaults.max ?? Math.max(...points) * 1.1;
  const legend = Math.min(series.length, 4);
  const area = { x: left + 52, y: top + 34, width: width - 64, height: height - 52 - legend * 15 };
  const grid = [0, 0.5, 1].map((part) => {
    const y = n(area.y + area.height * (1 - part));
    return `  <line class="grid" x1="${area.x}" x2="${area.x + area.width}" y1="${y}" y2="${y}"/><text x="${area.x - 6}" y="${Number(y) + 4}" text-anchor="end" style="font-size: 10.5px">${format(highest * part)}</text>`;
  });
  const largest = (one: Series) =>
    Math.max(...(one.values ?? []).map(([, value]) => Number(value)).filter(Number.isFinite));
  const shown = series.toSorted((one, other) => largest(other) - largest(one)).slice(0, 4);
  const lines = shown.map(({ metric, values = [] }, index) => {
    const path = values
      .filter(([, value]) => Number.isFinite(Number(value)))
      .map(([seconds, value]) => {
        const x = area.x + ((seconds - from) / (to - from)) * area.width;
        return `${n(x)},${n(area.y + area.height * (1 - Math.min(1, Number(value) / highest)))}`;
      });
    const name = targets[0].legendFormat.replaceAll(/{{(\w+)}}/g, (_, label: string) => metric[label] ?? "").trim();
    const colour = colours[index] ?? "#8c959f";
    const y = area.y + area.height + 20 + index * 15;
    return `  <polyline class="line" stroke="${colour}" points="${path.join(" ")}"/>
  <rect x="${left + 12}" y="${n(y - 6)}" width="12" height="3" style="fill: ${colour}"/><text x="${left + 30}" y="${n(y)}" style="font-size: 11px">${escaped(name.length > 44 ? `${name.slice(0, 43)}…` : name)}</text>`;
  });
  return [frame, ...grid, ...lines].join("\n");
}

async function drawDashboard(): Promise<string> {
  const prometheus = await startPrometheus(1_000);
  try {
    const emulator = createEmulator({ limits: { default: { quota: 60, window: 6_000 } } });
    const partner = clientOf(emulator);
    instrument(partner, { meterProvider: prometheus.meterProvider });
    const start = Date.now();
    await load(emulator, partner, start + 90_000);
    await sleep(3_000);
    const [from, to] = [start / 1_000 + 6, Date.now() / 1_000];
    const range = { start: String(from), end: String(to), step: "1" };
    const drawn = [];
    for (const panel of panels) {
      const found = await prometheus.query("query_range", { query: queryOf(panel, "8s", "90s"), ...range });
      drawn.push(drawPanel(panel, found, 46, [from, to]));
    }
    const heading = `  <text class="head" x="0" y="18">The panels of the dashboard</text>
  <text x="0" y="38">90 seconds of a shop on the emulator: lost responses, a burst, a 429, and an outage of one endpoint after 60 s.</text>`;
    const description = "Each panel is drawn from the result of its query.";
    return svg(
      24 * 46 - 8,
      50 + 24 * 26,
      "The panels of the Grafana dashboard",
      description,
      [heading, ...drawn].join("\n"),
    );
  } finally {
    await prometheus.stop();
  }
}

writeFileSync(new URL("trace.svg", docs), drawTrace(await traceOfAnOrder()));
writeFileSync(new URL("dashboard.svg", docs), await drawDashboard());
console.log("Written: docs/trace.svg, docs/dashboard.svg");
