import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { type KeyValueStorage, memoryStorage } from "pod-partner";
import { redisStorage } from "pod-partner/redis";
import { type SqliteStorage, sqliteStorage } from "pod-partner/sqlite";
import { createManualClock, type ManualClock } from "pod-partner/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, vi } from "vitest";
import { useRedis } from "../redis/use-redis.ts";
import { redisInstalled } from "../support/redis.ts";

/** What the tests of every storage use. */
export interface Stores {
  /** A storage on the data of this test: each call gives another one, as another process has it, where that is possible. */
  open(): KeyValueStorage;
  /** Lets the time of the storage pass. The lifetimes in a test are far apart, because the time of Redis passes by itself, too. */
  pass(ms: number): Promise<void>;
}

/** Opens files in a folder of its own for each test. */
export function useFolder(): { readonly path: (name: string) => string } {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "pod-partner-storage-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return { path: (name) => join(folder, name) };
}

/** Processes with one file go by the wall clock. */
export function useWallClock(): (ms: number) => Promise<void> {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());
  return async (ms) => void vi.setSystemTime(Date.now() + ms);
}

function memory(): Stores {
  let clock: ManualClock;
  let storage: KeyValueStorage;
  beforeEach(() => {
    clock = createManualClock();
    storage = memoryStorage({ clock });
  });
  return { open: () => storage, pass: (ms) => clock.advance(ms) };
}

function sqlite(): Stores {
  const opened: SqliteStorage[] = [];
  // Before the hooks of the folder: vitest runs the latest `afterEach` first.
  const folder = useFolder();
  let clock: ManualClock;
  beforeEach(() => {
    clock = createManualClock();
  });
  afterEach(() => Promise.all(opened.splice(0).map((storage) => storage.close())));
  const open = () => {
    const storage = sqliteStorage(folder.path("storage.db"), { clock });
    opened.push(storage);
    return storage;
  };
  return { open, pass: (ms) => clock.advance(ms) };
}

/** Shortens the lifetime of every key: Redis has a clock that no test can set. */
const passInRedis = (redis: { readonly redis: ReturnType<typeof useRedis>["redis"] }) => async (ms: number) => {
  for (const key of await redis.redis.keys("*")) {
    const left = await redis.redis.pTTL(key);
    if (left > 0) await redis.redis.pExpire(key, left - ms);
  }
};

function nodeRedis(): Stores {
  const context = useRedis();
  return { open: () => redisStorage(context.redis), pass: passInRedis(context) };
}

function ioredis(): Stores {
  const context = useRedis();
  let client: Redis;
  beforeAll(() => {
    client = new Redis(context.server.url, { keyPrefix: "shop:" });
  });
  afterAll(() => client.disconnect());
  return { open: () => redisStorage(client), pass: passInRedis(context) };
}

const kinds = { memory, sqlite, "redis with node-redis": nodeRedis, "redis with ioredis": ioredis };

/** Runs the tests on each storage. Those on Redis are skipped on a machine without Redis, but not in CI. */
export function describeEachStorage(title: string, tests: (stores: Stores, kind: string) => void): void {
  for (const [kind, use] of Object.entries(kinds)) {
    const withoutRedis = kind.startsWith("redis") && !redisInstalled && !process.env.CI;
    describe.skipIf(withoutRedis)(`${title}: ${kind}`, () => tests(use(), kind));
  }
}

/** The keys of an iteration, sorted. */
export async function keysOf(storage: Pick<KeyValueStorage, "keys">, prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const key of storage.keys(prefix)) keys.push(key);
  return keys.sort();
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (value: Uint8Array | undefined): string | undefined => value && new TextDecoder().decode(value);
