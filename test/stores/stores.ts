import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { type KeyValueStore, memoryStore } from "pod-partner";
import { redisStore } from "pod-partner/redis";
import { type SqliteStore, sqliteStore } from "pod-partner/sqlite";
import { createManualClock, type ManualClock } from "pod-partner/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, vi } from "vitest";
import { useRedis } from "../redis/use-redis.ts";
import { redisInstalled } from "../support/redis.ts";

/** What the tests of every store use. */
export interface Stores {
  /** A store on the data of this test: each call gives another one, as another process has it, where that is possible. */
  open(): KeyValueStore;
  /** Lets the time of the store pass. The lifetimes in a test are far apart, because the time of Redis passes by itself, too. */
  pass(ms: number): Promise<void>;
}

/** Opens files in a folder of its own for each test. */
export function useFolder(): { readonly path: (name: string) => string } {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "pod-partner-store-"));
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
  let store: KeyValueStore;
  beforeEach(() => {
    clock = createManualClock();
    store = memoryStore({ clock });
  });
  return { open: () => store, pass: (ms) => clock.advance(ms) };
}

function sqlite(): Stores {
  const opened: SqliteStore[] = [];
  // Before the hooks of the folder: vitest runs the latest `afterEach` first.
  const folder = useFolder();
  let clock: ManualClock;
  beforeEach(() => {
    clock = createManualClock();
  });
  afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())));
  const open = () => {
    const store = sqliteStore(folder.path("store.db"), { clock });
    opened.push(store);
    return store;
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
  return { open: () => redisStore(context.redis), pass: passInRedis(context) };
}

function ioredis(): Stores {
  const context = useRedis();
  let client: Redis;
  beforeAll(() => {
    client = new Redis(context.server.url, { keyPrefix: "shop:" });
  });
  afterAll(() => client.disconnect());
  return { open: () => redisStore(client), pass: passInRedis(context) };
}

const kinds = { memory, sqlite, "redis with node-redis": nodeRedis, "redis with ioredis": ioredis };

/** Runs the tests on each store. Those on Redis are skipped on a machine without Redis, but not in CI. */
export function describeEachStore(title: string, tests: (stores: Stores, kind: string) => void): void {
  for (const [kind, use] of Object.entries(kinds)) {
    const withoutRedis = kind.startsWith("redis") && !redisInstalled && !process.env.CI;
    describe.skipIf(withoutRedis)(`${title}: ${kind}`, () => tests(use(), kind));
  }
}

/** The keys of an iteration, sorted. */
export async function keysOf(store: Pick<KeyValueStore, "keys">, prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const key of store.keys(prefix)) keys.push(key);
  return keys.sort();
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (value: Uint8Array | undefined): string | undefined => value && new TextDecoder().decode(value);
