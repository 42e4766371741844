/** A process of one client: makes calls, and reports the CPU time of each. */
import { tracingChannel } from "node:diagnostics_channel";
import type { PodPartner } from "pod-partner";
import type { Observed } from "./observed.ts";

const [, , way, origin, build] = process.argv as [string, string, Observed, string, string];
const built = (name: string): string => new URL(`${name}.js`, `file://${build}/`).href;
const lines = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** What observes a client. */
const observers: Readonly<Record<Observed, (partner: PodPartner) => void | Promise<void>>> = {
  nobody: () => {},
  "a logger": () => {},
  "a subscriber of pod-partner:call": () => {
    const heard: unknown[] = [];
    tracingChannel("pod-partner:call").asyncEnd.subscribe((trace) => {
      heard[0] = trace;
    });
  },
  "subscribers of call and attempt": () => {
    const heard: unknown[] = [];
    for (const kind of ["call", "attempt"]) {
      const { start, asyncEnd } = tracingChannel(`pod-partner:${kind}`);
      for (const channel of [start, asyncEnd]) {
        channel.subscribe((trace) => {
          heard[0] = trace;
        });
      }
    }
  },
  OpenTelemetry: async (partner) => {
    const { context } = await import("@opentelemetry/api");
    const { AsyncLocalStorageContextManager } = await import("@opentelemetry/context-async-hooks");
    const { MeterProvider } = await import("@opentelemetry/sdk-metrics");
    const { BatchSpanProcessor, TracerProvider } = await import("@opentelemetry/sdk-trace");
    const { instrument } = (await import(built("opentelemetry"))) as typeof import("pod-partner/opentelemetry");
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    const exporter = {
      export: (_: unknown, done: (result: { code: 0 }) => void) => done({ code: 0 }),
      shutdown: async () => {},
    };
    const tracerProvider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
    instrument(partner, { tracerProvider, meterProvider: new MeterProvider() });
  },
};

const index = (await import(built("index"))) as typeof import("pod-partner");
const partner = new index.PodPartner({
  baseUrl: `${origin}/v2`,
  secretKey: "sk_bench_of_clients",
  logger: way === "a logger" ? lines : undefined,
});
await observers[way](partner);

process.on("message", async ({ calls }: { calls: number }) => {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) await partner.orders.get(`Order_${"0".repeat(26)}`);
  const { user, system } = process.cpuUsage(before);
  process.send?.((user + system) / calls);
});
process.send?.("ready");
