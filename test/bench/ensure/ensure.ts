import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresInstalled, startPostgres } from "../../support/postgres.ts";
import { redisInstalled, startRedis } from "../../support/redis.ts";
import { type Partner, start } from "../percall/process.ts";
import { prepare } from "../prepare.ts";
import { median, printTable } from "../table.ts";
import type { Cost, Job, Setup, StorageKind } from "./worker.ts";

const count = Number(process.env.ORDERS ?? 2_000);
const modes = [
  { title: "one at a time", orders: Math.ceil(count / 8), parallel: 1 },
  { title: "32 at a time", orders: count, parallel: 32 },
] as const;
const warmup = Math.ceil(count / 4);
const pairs = Number(process.env.PAIRS ?? 1_000);

const [serverCore, clientCore] = [0, 1];

/** What the service has counted. */
interface Count {
  readonly requests: number;
  readonly orders: number;
  readonly identifiers: number;
}

const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;

/** A process with a client. */
async function open(setup: Setup): Promise<Partner> {
  const worker = start("../ensure/worker.ts", clientCore);
  await worker.ready;
  await worker.ask(setup);
  return worker;
}

const costOf = async (worker: Partner, job: Job) => (await worker.ask(job)) as Cost;

/** One client: what an order costs with a storage, with and without the look-up before. */
async function measureCosts(setup: Setup, server: Partner): Promise<readonly (readonly string[])[]> {
  const worker = await open(setup);
  const requestsNow = async () => ((await server.ask({})) as Count).requests;
  const rows: string[][] = [];
  for (const lookFirst of setup.kind === "none" ? [true] : [true, false]) {
    const name = `${setup.kind}-${lookFirst}`;
    await costOf(worker, { name: `${name}-warmup`, orders: warmup, parallel: 32, lookFirst });
    for (const { title, orders, parallel } of modes) {
      const before = await requestsNow();
      const job = { name: `${name}-${parallel}`, orders, parallel, lookFirst };
      const { times, operations, cpu } = await costOf(worker, job);
      rows.push([
        `${setup.kind}${lookFirst ? "" : ", lookFirst: false"}, ${title}`,
        (((await requestsNow()) - before) / orders).toFixed(2),
        (operations / orders).toFixed(2),
        median(times).toFixed(1),
        p99(times).toFixed(1),
        (cpu / orders).toFixed(0),
      ]);
    }
  }
  worker.stop();
  return rows;
}

/** Two processes that place the same order at the same time, again and again. */
async function measurePairs(setup: Setup, server: Partner): Promise<readonly string[]> {
  const workers = [await open(setup), await open(setup)];
  const times: number[] = [];
  const before = (await server.ask({})) as Count;
  for (let pair = 0; pair < pairs; pair += 1) {
    const job = { name: `pair-${setup.kind}-${pair}`, orders: 1, parallel: 1, lookFirst: true };
    const costs = await Promise.all(workers.map((worker) => costOf(worker, job)));
    times.push(Math.max(...costs.flatMap((cost) => cost.times)));
  }
  const after = (await server.ask({})) as Count;
  for (const worker of workers) worker.stop();
  return [
    setup.kind,
    String(after.identifiers - before.identifiers),
    String(after.orders - before.orders),
    ((after.requests - before.requests) / pairs).toFixed(2),
    median(times).toFixed(1),
    p99(times).toFixed(1),
  ];
}

/** What an `ensure` costs with each storage, and with two processes that place the same order. */
export async function run(): Promise<void> {
  prepare();
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-bench-"));
  const redis = redisInstalled ? await startRedis() : undefined;
  const postgres = postgresInstalled ? await startPostgres() : undefined;
  const server = start("../ensure/server.ts", serverCore);
  const places: (readonly [StorageKind, string | undefined])[] = [
    ["none", ""],
    ["memory", ""],
    ["sqlite", join(folder, "storage.sqlite")],
    ["redis", redis?.url],
    ["postgres", postgres?.url],
  ];
  try {
    const address = (await server.ready) as Omit<Setup, "kind" | "at">;
    const setups = places.flatMap(([kind, at]) => (at === undefined ? [] : [{ ...address, kind, at }]));
    const rows: (readonly string[])[] = [];
    for (const setup of setups) rows.push(...(await measureCosts(setup, server)));
    const times = ["ms, median", "p99"];
    printTable(["an order with `ensure`", "requests", "operations", ...times, "µs CPU"], rows);
    console.log(`\n${pairs} identifiers, each in two processes at the same time`);
    const together: (readonly string[])[] = [];
    for (const setup of setups.slice(2)) together.push(await measurePairs(setup, server));
    printTable(["storage", "identifiers", "orders", "requests", `the slower one: ${times[0]}`, "p99"], together);
  } finally {
    server.stop();
    await redis?.kill();
    await postgres?.kill();
    await rm(folder, { recursive: true, force: true });
  }
}
