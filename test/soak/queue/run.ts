import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ask, start } from "../children.ts";
import type { Address } from "../messages.ts";
import { type StorageKind, type Store, startStore } from "../open-storage.ts";
import { createRandom } from "../random.ts";
import { type Count, type Job, type Mode, modes } from "./messages.ts";
import { openQueue, type Queue } from "./queues.ts";

const workers = 4;
const lanes = 32;
/** Milliseconds for which a restarted store is away. */
const outage = 2_000;
/** Milliseconds after which every request that was sent has been carried out. */
const settled = 22_000;

/** With a storage, a job may come back while its worker has it. Without one, it must not. */
const visibilityOf = (mode: Mode) => (mode === "no storage, lookFor" ? 60_000 : 5_000);

/** Workers that are replaced when they are killed. */
class Fleet {
  readonly errors: Record<string, number> = {};
  readonly #job: Job;
  #children: readonly ChildProcess[] = [];
  #isOver = false;

  constructor(job: Job) {
    this.#job = job;
    for (let count = 0; count < workers; count += 1) this.#add();
  }

  #add(): void {
    const child = start(new URL("./worker.ts", import.meta.url));
    child.on("message", (name: string) => {
      this.errors[name] = 1 + (this.errors[name] ?? 0);
    });
    child.once("exit", () => {
      this.#children = this.#children.filter((other) => other !== child);
      if (!this.#isOver) this.#add();
    });
    child.send(this.#job);
    this.#children = [...this.#children, child];
  }

  /** Kills the worker that lives longest, or the one after it. */
  kill(index: number): void {
    this.#children[index]?.kill("SIGKILL");
  }

  async end(): Promise<void> {
    this.#isOver = true;
    const ends = this.#children.map((child) => once(child, "exit"));
    for (const child of this.#children) child.kill();
    await Promise.all(ends);
  }
}

/** What happens when so many jobs are left. */
interface Blow {
  readonly left: number;
  readonly strike: () => void;
}

/** Kills at random instants of the run, and two restarts of the store. */
function blowsOf(orders: number, kills: number, fleet: Fleet, { crash, start }: Store): Blow[] {
  const random = createRandom(20_261_128);
  const blows = Array.from({ length: kills }, () => {
    const [left, delay, index] = [orders * (0.02 + 0.96 * random()), 500 * random(), Math.floor(2 * random())];
    return { left, strike: () => void setTimeout(() => fleet.kill(index), delay) };
  });
  for (const part of crash === undefined ? [] : [0.3, 0.7]) {
    const restart = async () => {
      await crash?.();
      await sleep(outage);
      await start?.();
    };
    blows.push({ left: orders * (part - 0.1 + 0.2 * random()), strike: () => void restart() });
  }
  return blows.sort((a, b) => b.left - a.left);
}

async function finish(queue: Queue, blows: Blow[]): Promise<void> {
  for (let left = Number.POSITIVE_INFINITY; left > 0 || blows.length > 0; await sleep(100)) {
    left = await queue.left().catch(() => left);
    while (blows[0] !== undefined && blows[0].left >= left) blows.shift()?.strike();
  }
}

async function soak(kind: StorageKind, mode: Mode, orders: number, kills: number) {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-queue-"));
  const service = start(new URL("./service.ts", import.meta.url));
  const [address, store] = await Promise.all([ask<Address>(service), startStore(kind, folder)]);
  const { place } = store;
  const visibility = visibilityOf(mode);
  const queue = await openQueue(place, visibility);
  await queue.add(Array.from({ length: orders }, (_, number) => `soak-${number}`));
  const began = performance.now();
  const fleet = new Fleet({ ...address, place, mode, lanes, visibility });
  await finish(queue, blowsOf(orders, kills, fleet, store));
  const seconds = Math.round((performance.now() - began) / 1_000);
  // A job that came back can still be in work, and a request can be carried out late.
  await sleep(settled);
  await fleet.end();
  const count = await ask<Count>(service, "count");
  service.disconnect();
  await queue.close();
  await store.end();
  await rm(folder, { recursive: true });
  return {
    store: kind,
    mode,
    orders: count.orders,
    twice: count.orders - count.identifiers,
    lost: orders - count.identifiers,
    requests: count.requests,
    seconds,
    kills,
    restarts: store.crash === undefined ? 0 : 2,
    "tries that failed": Object.entries(fleet.errors)
      .map(([name, times]) => `${times} ${name}`)
      .join(", "),
  };
}

/**
 * Places orders from a queue with several workers that are killed, and with a store that is restarted. Returns whether each was placed once
 * with a storage.
 */
export async function soakQueue(kind: StorageKind, orders: number, kills: number): Promise<boolean> {
  const rows = [];
  for (const mode of modes) {
    const row = await soak(kind, mode, orders, kills);
    rows.push(row);
    // The next one takes minutes.
    console.log(JSON.stringify(row));
  }
  console.table(rows);
  return rows.every(({ mode, twice, lost }) => mode === modes[2] || twice + lost === 0);
}
