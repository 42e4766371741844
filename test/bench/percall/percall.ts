import { prepare } from "../prepare.ts";
import { median, printTable } from "../table.ts";
import { type ClientName, clients } from "./clients.ts";
import { type Partner, start } from "./process.ts";
import type { Job } from "./worker.ts";

/** V8 optimises until about the 11,000th call. */
const warmup = 12_000;
const calls = 1_000;
const rounds = 17;
const modes = { "one at a time": 1, "32 at a time": 32 } as const;
type Mode = keyof typeof modes;

const serverCore = 0;
const clientCore = 1;
const names = Object.keys(clients) as ClientName[];

const measure = async (worker: Partner, job: Job) => (await worker.ask(job)) as number;

function report(mode: Mode, times: ReadonlyMap<ClientName, readonly number[]>): void {
  const of = (name: ClientName) => times.get(name) ?? [];
  /** Compared round by round, because the machine is the same for both within a round. */
  const ratio = (name: ClientName, to: ClientName) =>
    median(of(name).map((time, round) => time / (of(to)[round] ?? Number.NaN))).toFixed(2);
  const rows = names.map((name) => [
    name,
    median(of(name)).toFixed(1),
    ratio(name, "fetch"),
    ratio(name, "ky"),
    `${Math.min(...of(name)).toFixed(1)}–${Math.max(...of(name)).toFixed(1)}`,
  ]);
  console.log(`\n${mode}: ${rounds} rounds of ${calls} calls`);
  printTable(["client", "µs CPU per call", "to fetch", "to ky", "min–max"], rows);
}

/** The CPU time of one call of each client with default options. Rounds alternate between clients, so that a drift of the machine cancels out. */
export async function run(): Promise<void> {
  prepare();
  const server = start("server.ts", serverCore);
  const origin = `http://127.0.0.1:${await server.ready}`;
  const workers = new Map(names.map((name) => [name, start("worker.ts", clientCore, [name, origin])]));
  try {
    await Promise.all([...workers.values()].map(({ ready }) => ready));
    for (const [mode, parallel] of Object.entries(modes) as [Mode, number][]) {
      const times = new Map<ClientName, number[]>(names.map((name) => [name, []]));
      for (const worker of workers.values()) await measure(worker, { calls: warmup, parallel });
      for (let round = 0; round < rounds; round += 1) {
        for (const [name, worker] of workers) times.get(name)?.push(await measure(worker, { calls, parallel }));
      }
      report(mode, times);
    }
  } finally {
    for (const child of [server, ...workers.values()]) child.stop();
  }
}
