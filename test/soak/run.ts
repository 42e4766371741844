/**
 * `npm run soak`: places 10,000 orders while 20 % of all responses are lost and 5 % are 5xx, once without interruption and once with
 * three kills. Exits with 1 unless each was placed exactly once. `npm run bench -- exactly-once` compares other clients.
 *
 * `npm run soak -- 500` places fewer.
 *
 * `npm run soak -- --behind nginx` (or `haproxy`) places 2,000 orders and files 500 claims through that gateway, which reloads every
 * 0.5 s and times out after 1 s, while the service takes up to 7 s in 5 % of all requests. Exits with 1 unless each is created
 * exactly once and none has failed. `npm run soak -- --behind nginx 200` makes 200 orders and 50 claims; `--transport node` sends them
 * over `nodeTransport`.
 *
 * `npm run soak -- --calls 1000000` makes that many mixed calls in one process, with faults and aborts. Exits with 1 if anything stays
 * open, is created twice, or fails with an error that is not typed, or if the heap grows. `--transport node` sends them over
 * `nodeTransport`.
 *
 * `npm run soak -- --queue postgres` (or `redis`, `sqlite`) places 10,000 orders from a queue in that store, with 4 workers and 20 kills,
 * while 20 % of all responses are lost and the store is restarted twice: without a storage, with one, and with `lookFirst: false`. Exits
 * with 1 unless each order was placed once with a storage. `npm run soak -- --queue sqlite 300 --kills 4` places fewer.
 *
 * `npm run soak -- --follow 1000` ships that many orders in several parts to a follower that fails and is killed: on SQLite, on Redis, and
 * with two processes on one Redis. Exits with 1 unless every change is handed over, and nothing older after something newer. `--transport node`
 * sends over `nodeTransport`.
 *
 * `npm run soak -- --followed 100000` measures a process that follows that many orders, of which a twentieth is open: its start and a sweep.
 *
 * `npm run soak -- --renders 10000` makes that many mockups and 5 % doubles under a weekly limit that covers 60 %, is killed three times, and
 * finishes in the next week. Exits with 1 if a pair is created twice although its response was not lost, or if a picture is missing.
 * `--transport node` sends over `nodeTransport`.
 *
 * `npm run soak -- --renders 1000 --processes 2 --storage redis` makes the same mockups in 2 processes with one Redis (or `sqlite`; without
 * `--storage`, with each) at the same time. Exits with 1 unless each pair is created exactly once.
 */
import { once } from "node:events";
import { parseArgs } from "node:util";
import { type GatewayKind, gatewayKinds } from "../proxies/gateway/gateway.ts";
import { soakBehind } from "./behind.ts";
import { soakCalls } from "./calls/run.ts";
import { ask, start } from "./children.ts";
import { soakFollower } from "./follower/run.ts";
import { measureFollower } from "./follower/scale.ts";
import type { Address, Count, Job, Progress } from "./messages.ts";
import { storeKinds } from "./open-storage.ts";
import { soakQueue } from "./queue/run.ts";
import { soakRenders } from "./renders/run.ts";
import { soakTogether } from "./renders/together.ts";
import { type TransportKind, transportKinds } from "./transport.ts";

const { values, positionals } = parseArgs({
  options: {
    behind: { type: "string" },
    calls: { type: "string" },
    follow: { type: "string" },
    followed: { type: "string" },
    kills: { type: "string", default: "20" },
    processes: { type: "string" },
    queue: { type: "string" },
    renders: { type: "string" },
    storage: { type: "string" },
    transport: { type: "string" },
  },
  allowPositionals: true,
});
const orders = Number(positionals[0] ?? (values.behind === undefined ? 10_000 : 2_000));
const concurrency = 64;
/** When clients are killed, as fractions of all orders. */
const kills = [0.25, 0.5, 0.75];

/** Runs a client until it has finished, or until it has placed `until` orders: then it is killed. */
async function runClient(job: Job, placed: Map<string, string>, until: number): Promise<number> {
  const child = start(new URL("./worker.ts", import.meta.url));
  const exit = once(child, "exit");
  const state = { seen: 0, failures: 0 };
  child.on("message", (progress: Progress) => {
    if ("failures" in progress) {
      state.failures = progress.failures;
      return;
    }
    placed.set(progress.customIdentifier, progress.reference);
    state.seen += 1;
    if (state.seen >= until) child.kill("SIGKILL");
  });
  child.send(job);
  await exit;
  return state.failures;
}

async function soak(killed: boolean) {
  const service = start(new URL("./service.ts", import.meta.url));
  const address = await ask<Address>(service);
  const job: Job = { ...address, orders, concurrency };
  const began = performance.now();
  const placed = new Map<string, string>();
  if (killed) for (const part of kills) await runClient(job, placed, Math.ceil(orders * part));
  const failures = await runClient(job, placed, Number.POSITIVE_INFINITY);
  const seconds = (performance.now() - began) / 1_000;
  const count = await ask<Count>(service, "count");
  service.disconnect();
  return {
    killed: killed ? kills.length : 0,
    "orders expected": orders,
    "orders created": count.orders,
    "inputs placed": placed.size,
    references: new Set(placed.values()).size,
    "retried by hand": failures,
    requests: count.requests,
    seconds: Math.round(seconds * 10) / 10,
  };
}

/** Without interruption and with kills. */
async function soakOpenly(): Promise<boolean> {
  const results = [await soak(false), await soak(true)];
  console.table(results);
  return results.every((row) =>
    [row["orders created"], row["inputs placed"], row.references].every((count) => count === orders),
  );
}

async function soakThrough(kind: GatewayKind, transport: TransportKind): Promise<boolean> {
  const times = { gatewayTimeout: 1_000, slowest: 7_000, reloadEvery: 500 };
  const claims = Math.round(orders / 4);
  const result = await soakBehind(kind, { orders, claims, concurrency, transport, ...times });
  const { wrong, seconds, reloads, ...tallies } = result;
  for (const { name, failure, timeline } of wrong) {
    console.log(`${name}: ${failure ?? "made more than once"}`);
    console.table(timeline);
  }
  const row = (tally: object) => ({ ...tally, seconds, reloads });
  console.table({ orders: row(tallies.orders), claims: row(tallies.claims) });
  return Object.values(tallies).every(({ asked, made, failed }) => made === asked && failed === 0);
}

const kind = gatewayKinds.find((known) => known === values.behind);
if (kind === undefined && values.behind !== undefined) throw new Error(`--behind takes ${gatewayKinds.join(" or ")}`);
const transport = transportKinds.find((known) => known === (values.transport ?? "fetch"));
if (transport === undefined) throw new Error(`--transport takes ${transportKinds.join(" or ")}`);
const stores = storeKinds.filter((known) => known === (values.storage ?? known));
if (stores.length === 0) throw new Error(`--storage takes ${storeKinds.join(" or ")}`);
const queueKind = storeKinds.find((known) => known === values.queue);
if (queueKind === undefined && values.queue !== undefined) throw new Error(`--queue takes ${storeKinds.join(" or ")}`);

/** In one process with kills, or in several processes at the same time. */
async function soakMockups(pairs: number, through: TransportKind): Promise<boolean> {
  if (values.processes === undefined) return soakRenders(pairs, through);
  const passed = [];
  for (const kind of stores) passed.push(await soakTogether(pairs, Number(values.processes), kind));
  return passed.every(Boolean);
}

const run = () => {
  if (queueKind !== undefined) return soakQueue(queueKind, orders, Number(values.kills));
  if (values.follow !== undefined) return soakFollower(Number(values.follow), transport);
  if (values.followed !== undefined) return measureFollower(Number(values.followed));
  if (values.renders !== undefined) return soakMockups(Number(values.renders), transport);
  if (values.calls !== undefined) return soakCalls(Number(values.calls), transport);
  return kind === undefined ? soakOpenly() : soakThrough(kind, transport);
};
if (!(await run())) process.exitCode = 1;
