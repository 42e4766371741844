import { resolve } from "node:path";
import { baseline } from "../clients.ts";
import { start } from "../percall/process.ts";
import { prepare } from "../prepare.ts";
import { median, printTable } from "../table.ts";

const ways = [
  "nobody",
  "a logger",
  "a subscriber of pod-partner:call",
  "subscribers of call and attempt",
  "OpenTelemetry",
] as const;
export type Observed = (typeof ways)[number];

/** V8 optimises until about the 11,000th call. */
const warmup = 12_000;
const calls = 1_000;
const rounds = 17;

/**
 * The CPU time of one call, by who observes it. `BASELINE=<folder>` compares with an older checkout that is built.
 */
export async function run(): Promise<void> {
  prepare();
  const server = start("server.ts", 0);
  const origin = `http://127.0.0.1:${await server.ready}`;
  const dist = resolve("dist");
  const rows = [
    ...(baseline === undefined ? [] : [["before, nobody", "nobody", resolve(baseline, "dist")] as const]),
    ...ways.map((way) => [way, way, dist] as const),
  ].map(([name, way, build]) => ({
    name,
    worker: start("../observed/worker.ts", 1, [way, origin, build]),
    samples: [] as number[],
  }));
  try {
    for (const { worker } of rows) {
      await worker.ready;
      await worker.ask({ calls: warmup });
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const { worker, samples } of rows) samples.push((await worker.ask({ calls })) as number);
    }
  } finally {
    for (const child of [server, ...rows.map(({ worker }) => worker)]) child.stop();
  }
  const first = rows[0]?.samples ?? [];
  console.log(`\n${rounds} rounds of ${calls} calls, one at a time`);
  printTable(
    ["observed by", "µs CPU per call", "to the first row", "min–max"],
    rows.map(({ name, samples }) => [
      name,
      median(samples).toFixed(1),
      median(samples.map((value, round) => value / (first[round] ?? Number.NaN))).toFixed(3),
      `${Math.min(...samples).toFixed(1)}–${Math.max(...samples).toFixed(1)}`,
    ]),
  );
}
