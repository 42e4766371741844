/** A process that works on a storage until it is done or killed. Its job is its argument, as JSON; it prints a line when it is in progress. */

import type { KeyValueStorage } from "../../src/storage/contract.ts";
import { takeLock } from "../../src/storage/lock.ts";
import { systemClock } from "../../src/util/clock.ts";
import type { Job } from "./children.ts";

const job = JSON.parse(process.argv[2] ?? "") as Job;

async function open(): Promise<KeyValueStorage & { close?(): Promise<void> }> {
  if (job.location.startsWith("postgres:")) {
    const [{ Pool }, { postgresStorage }] = await Promise.all([import("pg"), import("../../src/postgres/index.ts")]);
    const pool = new Pool({ connectionString: job.location });
    return { ...postgresStorage(pool), close: () => pool.end() };
  }
  if (!job.location.startsWith("redis:")) {
    const { sqliteStorage } = await import("../../src/sqlite/index.ts");
    return sqliteStorage(job.location);
  }
  const [{ createClient }, { redisStorage }] = await Promise.all([import("redis"), import("../../src/redis/index.ts")]);
  const client = await createClient({ url: job.location }).connect();
  return { ...redisStorage(client), close: async () => client.destroy() };
}

const numberOf = (value: Uint8Array | undefined) => Number(value ? new TextDecoder().decode(value) : 0);

/** Adds 1 to a number in the storage, `times` times. */
async function count(storage: KeyValueStorage, times: number): Promise<void> {
  for (let done = 0; done < times; ) {
    const held = await storage.get("count");
    const next = new TextEncoder().encode(String(numberOf(held) + 1));
    if (await storage.set("count", next, { expected: held ?? null })) done += 1;
  }
}

/** Fills the same keys with one byte after the other, forever. */
async function fill(storage: KeyValueStorage): Promise<never> {
  for (let byte = 0; ; byte = (byte + 1) % 256) {
    await Promise.all(["one", "two"].map((key) => storage.set(key, new Uint8Array(200_000).fill(byte))));
    if (byte === 3) console.log("in progress");
  }
}

const storage = await open();
if (job.task === "count") await count(storage, job.times);
if (job.task === "open") {
  for (let turn = 0; turn < job.times; turn += 1) {
    const again = await open();
    await again.set(`key:${process.pid}:${turn}`, Uint8Array.of(turn));
    await again.close?.();
  }
}
if (job.task === "fill") await fill(storage);
if (job.task === "lock") {
  await takeLock(storage, "lock", job.times, systemClock);
  console.log("in progress");
  setInterval(() => undefined, 60_000);
} else {
  await storage.close?.();
}
