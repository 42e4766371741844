/**
 * `npm run soak`: places 10,000 orders while 20 % of all answers are lost and 5 % are 5xx, with the SDK and with a plain client
 * that retries, each left in peace once and killed three times once. Ends with 1 unless the SDK has placed each exactly once.
 *
 * `npm run soak -- 500` places fewer.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Address, Count, Job, Progress } from "./messages.ts";

const orders = Number(process.argv[2] ?? 10_000);
const concurrency = 64;
/** Where clients are killed, in parts of all orders. */
const kills = [0.25, 0.5, 0.75];

const start = (file: URL) => fork(fileURLToPath(file));

async function ask<Answer>(child: ChildProcess, message?: object | string): Promise<Answer> {
  const answer = once(child, "message");
  if (message !== undefined) child.send(message);
  return (await answer)[0] as Answer;
}

/** Runs a client until it has done its job, or until it has placed `until` orders: then it is killed. */
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

async function soak(client: Job["client"], killed: boolean) {
  const service = start(new URL("./service.ts", import.meta.url));
  const address = await ask<Address>(service);
  const job: Job = { ...address, client, orders, concurrency };
  const began = performance.now();
  const placed = new Map<string, string>();
  if (killed) for (const part of kills) await runClient(job, placed, Math.ceil(orders * part));
  const failures = await runClient(job, placed, Number.POSITIVE_INFINITY);
  const seconds = (performance.now() - began) / 1_000;
  const count = await ask<Count>(service, "count");
  service.disconnect();
  return {
    client,
    killed: killed ? kills.length : 0,
    "orders wanted": orders,
    "orders made": count.orders,
    "inputs placed": placed.size,
    references: new Set(placed.values()).size,
    "tried again by hand": failures,
    requests: count.requests,
    seconds: Math.round(seconds * 10) / 10,
  };
}

const results = [];
for (const client of ["pod-partner", "plain"] as const) {
  for (const killed of [false, true]) results.push(await soak(client, killed));
}
console.table(results);
const exact = results
  .filter(({ client }) => client === "pod-partner")
  .every((row) => [row["orders made"], row["inputs placed"], row.references].every((count) => count === orders));
if (!exact) process.exitCode = 1;
