import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { measureColdStart } from "../cold-start/cold-start.ts";
import { measureIteration } from "../iterate/iterate.ts";
import type { WorkName } from "../iterate/work.ts";
import { measureCalls } from "../percall/percall.ts";
import { prepare } from "../prepare.ts";
import type { Samples } from "../samples.ts";
import { chart } from "./chart.ts";
import { type Measurement, measurement } from "./measurement.ts";
import { page } from "./page.ts";

const blocking: WorkName = "blocks on every item";
const waiting: WorkName = "waits on the last item";
const none: Samples = new Map();

async function measureAll(): Promise<readonly Measurement[]> {
  const calls = await measureCalls();
  const small = await measureIteration("20 KB", [blocking]);
  const large = await measureIteration("205 KB", [blocking, waiting]);
  const coldStart = await measureColdStart();
  return [
    measurement("CPU per call, one at a time", "µs", calls["one at a time"]),
    measurement("CPU per call, 32 at a time", "µs", calls["32 at a time"]),
    measurement("Iteration, pages of 20 KB, blocking work", "ms", small.get(blocking) ?? none),
    measurement("Iteration, pages of 205 KB, blocking work", "ms", large.get(blocking) ?? none),
    measurement("Iteration, pages of 205 KB, waiting", "ms", large.get(waiting) ?? none),
    measurement("Cold start", "ms", coldStart),
  ];
}

/** Runs the benchmarks that compare clients, and writes `docs/performance.md` and its chart. Needs an idle machine. */
export async function run(): Promise<void> {
  const [load = 0] = loadavg();
  prepare();
  const measurements = await measureAll();
  const docs = new URL("../../../docs/", import.meta.url);
  writeFileSync(new URL("performance.svg", docs), chart(measurements));
  writeFileSync(new URL("performance.md", docs), page(measurements, load));
  console.log("Written: docs/performance.md, docs/performance.svg");
}
