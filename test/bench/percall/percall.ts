import { type ClientName, clientNames } from "../clients.ts";
import { prepare } from "../prepare.ts";
import { medianOf, ratioOf, type Samples, sample } from "../samples.ts";
import { printTable } from "../table.ts";
import { start } from "./process.ts";
import type { Job } from "./worker.ts";

/** V8 optimises until about the 11,000th call. */
const warmup = 12_000;
const calls = 1_000;
const rounds = 17;
const modes = { "one at a time": 1, "32 at a time": 32 } as const;
export type Mode = keyof typeof modes;

const serverCore = 0;
const clientCore = 1;

function report(mode: Mode, samples: Samples): void {
  const of = (name: ClientName) => samples.get(name) ?? [];
  const rows = clientNames.map((name) => [
    name,
    medianOf(samples, name).toFixed(1),
    ratioOf(samples, name).toFixed(2),
    ratioOf(samples, name, "ky").toFixed(2),
    `${Math.min(...of(name)).toFixed(1)}–${Math.max(...of(name)).toFixed(1)}`,
  ]);
  console.log(`\n${mode}: ${rounds} rounds of ${calls} calls`);
  printTable(["client", "µs CPU per call", "to fetch", "to ky", "min–max"], rows);
}

/** The microseconds of CPU time of one call of each client. */
export async function measureCalls(): Promise<Readonly<Record<Mode, Samples>>> {
  const server = start("server.ts", serverCore);
  const origin = `http://127.0.0.1:${await server.ready}`;
  const workers = new Map(clientNames.map((name) => [name, start("worker.ts", clientCore, [name, origin])]));
  const ask = async (name: ClientName, job: Job) => (await workers.get(name)?.ask(job)) as number;
  const measure = async (mode: Mode) => {
    const parallel = modes[mode];
    for (const name of clientNames) await ask(name, { calls: warmup, parallel });
    return sample(rounds, (name) => ask(name, { calls, parallel }));
  };
  try {
    await Promise.all([...workers.values()].map(({ ready }) => ready));
    return { "one at a time": await measure("one at a time"), "32 at a time": await measure("32 at a time") };
  } finally {
    for (const child of [server, ...workers.values()]) child.stop();
  }
}

/** The CPU time of one call of each client with default options. */
export async function run(): Promise<void> {
  prepare();
  for (const [mode, samples] of Object.entries(await measureCalls())) report(mode as Mode, samples);
}
