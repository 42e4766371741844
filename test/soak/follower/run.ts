import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningEmulator, startEmulator } from "../../../src/emulator/index.ts";
import type { OrderReference } from "../../../src/index.ts";
import { redisInstalled, startRedis } from "../../support/redis.ts";
import { ask, start } from "../children.ts";
import { createRandom } from "../random.ts";
import type { TransportKind } from "../transport.ts";
import type { Swept, WorkerJob } from "./messages.ts";
import { type Timelines, verify } from "./verify.ts";

/** What happens to each order, in this order: shipments of one line, and a hold between them. */
const parts = [
  { index: 1, quantity: 1 },
  { index: 2, quantity: 2 },
  "hold",
  "release",
  { index: 1, quantity: 1 },
  { index: 2, quantity: 1 },
] as const;
const units = 5;
const token = "0d5b3c9a7e1f4826";
/** Callbacks at a time, and the events between two batches of them. */
const batch = 50;
/** After so many sweeps the soak gives up. */
const mostSweeps = 20;

function shuffled<Value>(values: readonly Value[], random: () => number): Value[] {
  return values
    .map((value) => ({ value, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

/** Starts a partner's process, and can kill and restart it on the same port. */
async function startWorker(job: Omit<WorkerJob, "port">) {
  const spawn = async (port: number, seed: number) => {
    const child = start(new URL("./worker.ts", import.meta.url));
    return { child, port: await ask<number>(child, { ...job, port, seed } satisfies WorkerJob) };
  };
  let current = await spawn(0, job.seed);
  return {
    port: current.port,
    stop: () => current.child.disconnect(),
    ask: <Response>(message: object | string) => ask<Response>(current.child, message),
    kill: async () => {
      const exit = once(current.child, "exit");
      current.child.kill("SIGKILL");
      await exit;
    },
    restart: async () => {
      current = await spawn(current.port, current.port + job.seed * 7);
    },
  };
}

/** Makes the next thing happen to an order, and notes its new state. Returns whether the service sends a callback for it. */
function happen(emulator: RunningEmulator, reference: OrderReference, timeline: string[], step: number): boolean {
  const part = parts[step];
  const [shipped, hold] = JSON.parse(timeline.at(-1) ?? "") as [number[], string | null];
  const next = { shipped: [...shipped], hold };
  if (part === "hold") {
    next.hold = "no stock";
    emulator.hold(reference, next.hold);
  } else if (part === "release") {
    next.hold = null;
    emulator.release(reference);
  } else if (part !== undefined) {
    next.shipped[part.index - 1] = (next.shipped[part.index - 1] ?? 0) + part.quantity;
    emulator.ship(reference, { lines: [part] });
  }
  timeline.push(JSON.stringify([next.shipped, next.hold]));
  return typeof part === "object";
}

type Worker = Awaited<ReturnType<typeof startWorker>>;

/** Sends callbacks as the service does, all at the same time. Resolves to those that failed, which the service repeats later. */
async function send(references: readonly OrderReference[], workers: readonly Worker[], random: () => number) {
  const outcomes = await Promise.all(
    references.map(async (reference) => {
      const worker = workers[Math.floor(random() * workers.length)];
      const url = new URL(`http://127.0.0.1:${worker?.port}/callback?token=${token}`);
      const parameters = {
        environment: "test",
        order_reference_v2: reference,
        order_reference: "s-1",
        store_code: "s",
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      const delivered = await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
      return delivered ? [] : [reference];
    }),
  );
  return outcomes.flat();
}

/**
 * Ships all orders in parts while callbacks arrive one to three times, in random order, or never. Kills each process twice. `refused` are
 * callbacks that the processes never accepted, however often they were sent.
 */
async function storm(emulator: RunningEmulator, workers: readonly Worker[], timelines: Map<string, string[]>) {
  const random = createRandom(20_261_122);
  const references = [...timelines.keys()] as OrderReference[];
  const steps = new Map<string, number>();
  const events = shuffled(
    references.flatMap((reference) => parts.map(() => reference)),
    random,
  );
  const kills = [events.length / 3, (2 * events.length) / 3].map(Math.floor);
  const counts = { callbacks: 0, never: 0, kills: 0, tries: 0, refused: 0 };
  let queue: OrderReference[] = [];
  for (const [at, reference] of events.entries()) {
    const step = steps.get(reference) ?? 0;
    steps.set(reference, step + 1);
    if (happen(emulator, reference, timelines.get(reference) ?? [], step)) {
      counts.callbacks += 1;
      const copies = random() < 0.1 ? 0 : 1 + Math.floor(random() * 3);
      if (copies === 0) counts.never += 1;
      queue.push(...Array<OrderReference>(copies).fill(reference));
    }
    const kill = kills.includes(at);
    if (at % batch !== 0 && !kill) continue;
    queue = shuffled(queue, random);
    counts.tries += Math.min(queue.length, batch);
    const sending = send(queue.splice(0, batch), workers, random);
    if (kill) {
      counts.kills += 1;
      await new Promise((resolve) => setTimeout(resolve, 30));
      for (const worker of workers) await worker.kill();
    }
    queue.push(...(await sending));
    if (kill) for (const worker of workers) await worker.restart();
  }
  for (let round = 0; queue.length > 0 && round < 1_000; round += 1) {
    counts.tries += Math.min(queue.length, batch);
    queue.push(...(await send(queue.splice(0, batch), workers, random)));
  }
  counts.refused = queue.length;
  return counts;
}

/** Sweeps with all processes until nothing is new and nothing fails. */
async function sweepAll(workers: readonly Worker[]): Promise<{ found: number; sweeps: number; checked: number }> {
  const total = { found: 0, sweeps: 0, checked: 0 };
  for (let open = true; open && total.sweeps < mostSweeps; total.sweeps += 1) {
    const swept = await Promise.all(workers.map((worker) => worker.ask<Swept>("sweep")));
    total.found += swept.reduce((sum, { changed }) => sum + changed, 0);
    total.checked += swept.reduce((sum, { checked }) => sum + checked, 0);
    open = swept.some(({ changed, failed }) => changed + failed > 0);
  }
  return total;
}

async function soak(
  orders: number,
  kind: WorkerJob["storage"]["kind"],
  processes: number,
  transport: TransportKind,
): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
  const file = join(folder, "handed-over.txt");
  const redis = kind === "redis" ? await startRedis() : undefined;
  const orderlines = [{ quantity: 2 }, { quantity: 3 }];
  await using emulator = await startEmulator({
    seed: { orders: Array.from({ length: orders }, () => ({ orderlines })) },
    limits: { default: { quota: 1_000_000, window: 60_000 } },
  });
  const { baseUrl, secretKey } = emulator;
  const storage = { kind, at: redis?.url ?? join(folder, "storage.db") };
  const job = { baseUrl, secretKey, token, file, failing: 0.1, storage, transport };
  const workers = await Promise.all(
    Array.from({ length: processes }, (_, number) => startWorker({ ...job, seed: number + 1 })),
  );
  const references = (emulator.world().organizations[0]?.orders ?? []).map(({ reference }) => reference);
  await workers[0]?.ask({ follow: references });
  const timelines = new Map(references.map((reference) => [reference as string, [JSON.stringify([[0, 0], null])]]));
  const began = performance.now();
  const counts = await storm(emulator, workers, timelines);
  const { found, sweeps, checked } = await sweepAll(workers);
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  for (const worker of workers) worker.stop();
  const { begun, done, repeated, effects, ...wrong } = verify(file, timelines as Timelines, units);
  await redis?.kill();
  await rm(folder, { recursive: true });
  console.table([{ storage: kind, processes, orders, ...counts, seconds }]);
  console.table([{ begun, done, repeated, effects, "found by sweeps": found, sweeps, checked }]);
  console.table([wrong]);
  return counts.refused === 0 && Object.values(wrong).every((count) => count === 0);
}

/**
 * Ships orders in several parts. Each callback is sent one to three times in random order, a tenth never; a tenth of the handlers fail;
 * each process is killed twice. Returns whether every change was handed over, in forward order: on SQLite, on Redis, and with two
 * processes on one Redis.
 */
export async function soakFollower(orders: number, transport: TransportKind): Promise<boolean> {
  if (!redisInstalled) throw new Error("This soak needs redis-server");
  const passed = [];
  for (const [kind, processes] of [
    ["sqlite", 1],
    ["redis", 1],
    ["redis", 2],
  ] as const) {
    passed.push(await soak(orders, kind, processes, transport));
  }
  return passed.every(Boolean);
}
