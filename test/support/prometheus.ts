import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { freePort, listening } from "./port.ts";

/** Whether the machine has Prometheus installed. */
export const prometheusInstalled = spawnSync("prometheus", ["--version"]).status === 0;

/** The values of a series, by its labels. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Seconds and value: of a range. */
  readonly values?: readonly (readonly [seconds: number, value: string])[];
  /** Of an instant. */
  readonly value?: readonly [seconds: number, value: string];
}

/** A Prometheus that reads the metrics of a meter provider. */
export interface Prometheus {
  readonly meterProvider: MeterProvider;
  /** `query` with the parameters of Prometheus's own interface. */
  query(path: "query" | "query_range", parameters: Readonly<Record<string, string>>): Promise<readonly Series[]>;
  stop(): Promise<void>;
}

/** Starts Prometheus, and a meter provider whose metrics it reads every `interval` milliseconds. */
export async function startPrometheus(interval: number): Promise<Prometheus> {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const meterProvider = new MeterProvider({ readers: [exporter] });
  const metrics = createServer((request, response) => exporter.getMetricsRequestHandler(request, response));
  await once(metrics.listen(0, "127.0.0.1"), "listening");
  const { port: target } = metrics.address() as AddressInfo;

  const folder = await mkdtemp(join(tmpdir(), "prometheus-"));
  const file = join(folder, "prometheus.yml");
  await writeFile(
    file,
    `global: { scrape_interval: ${interval}ms, scrape_timeout: ${interval}ms }
scrape_configs:
  - job_name: shop
    static_configs: [{ targets: ["127.0.0.1:${target}"] }]
`,
  );
  const port = await freePort();
  const options = [`--config.file=${file}`, `--storage.tsdb.path=${folder}`, `--web.listen-address=127.0.0.1:${port}`];
  const child: ChildProcess = spawn("prometheus", options, { stdio: "ignore" });
  await listening(port, AbortSignal.timeout(20_000));

  return {
    meterProvider,
    query: async (path, parameters) => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(parameters)}`);
      const { status, error, data } = (await response.json()) as {
        status: string;
        error?: string;
        data: { result: readonly Series[] };
      };
      if (status !== "success") throw new Error(`${parameters.query}: ${error}`);
      return data.result;
    },
    stop: async () => {
      const gone = once(child, "exit");
      child.kill();
      await gone;
      metrics.closeAllConnections();
      metrics.close();
      await meterProvider.shutdown();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
