import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { Redis } from "ioredis";
import { Pool } from "pg";
import { type KeyValueStorage, memoryStorage } from "pod-partner";
import { type PostgresClient, postgresStorage } from "pod-partner/postgres";
import { redisStorage } from "pod-partner/redis";
import { type SqliteStorage, sqliteStorage } from "pod-partner/sqlite";
import { createManualClock, type ManualClock } from "pod-partner/testing";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, vi } from "vitest";
import { useRedis } from "../redis/use-redis.ts";
import { redisInstalled } from "../support/redis.ts";
import { describeWithPostgres, table, usePostgres } from "../support/use-postgres.ts";

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

/** Shortens the lifetime of every value: Postgres has a clock that no test can set. */
const shorten = (ms: number) => `UPDATE ${table} SET until = until - interval '${ms} milliseconds'`;

/** A client of Postgres, and how it is closed. */
interface Connected {
  readonly client: PostgresClient;
  close(): Promise<unknown>;
}

/** Each of two processes has a client of its own. */
function inPostgres(
  context: ReturnType<typeof usePostgres>,
  connect: (url: string) => Connected | Promise<Connected>,
  behindPgBouncer: boolean,
): Stores {
  const connected: Connected[] = [];
  let turn = 0;
  beforeAll(async () => {
    const { url } = behindPgBouncer ? context.bouncer : context.server;
    connected.push(await connect(url), await connect(url));
  });
  afterAll(() => Promise.all(connected.map(({ close }) => close())));
  return {
    open: () => {
      const one = connected[turn++ % connected.length];
      if (one === undefined) throw new Error("open() works only inside a test");
      return postgresStorage(one.client);
    },
    pass: async (ms) => void (await context.pool.query(shorten(ms))),
  };
}

function poolOf(url: string): Connected {
  const client = new Pool({ connectionString: url });
  return { client, close: () => client.end() };
}

function postgresJsOf(url: string): Connected {
  const client = postgres(url);
  return { client, close: () => client.end() };
}

let starting: Promise<PGlite> | undefined;

/** Starts it, which takes ten seconds of a processor: the files of a process share it. */
export function startPGlite(): Promise<PGlite> {
  starting ??= PGlite.create();
  return starting;
}

function pglite(): Stores {
  let database: PGlite;
  beforeAll(async () => {
    database = await startPGlite();
    await postgresStorage(database).migrate();
  });
  beforeEach(() => void database.exec(`TRUNCATE ${table}`));
  return { open: () => postgresStorage(database), pass: async (ms) => void (await database.query(shorten(ms))) };
}

const kinds = {
  memory,
  sqlite,
  "redis with node-redis": nodeRedis,
  "redis with ioredis": ioredis,
  pglite,
};

/** They share one server. */
const clientsOfPostgres = [
  ["a pool of pg", poolOf, false],
  ["postgres.js", postgresJsOf, false],
  ["a pool of pg behind PgBouncer", poolOf, true],
  ["postgres.js behind PgBouncer", postgresJsOf, true],
] as const;

/** Runs the tests on each storage. On a machine without its server, but not in CI, those of a storage are skipped. */
export function describeEachStorage(title: string, tests: (stores: Stores, kind: string) => void): void {
  for (const [kind, use] of Object.entries(kinds)) {
    const isSkipped = kind.startsWith("redis") && !redisInstalled && !process.env.CI;
    describe.skipIf(isSkipped)(`${title}: ${kind}`, () => tests(use(), kind));
  }
  describeWithPostgres(`${title}: postgres`, () => {
    const context = usePostgres();
    describe.each(clientsOfPostgres)("with %s", (kind, connect, isBehind) => {
      tests(inPostgres(context, connect, isBehind), kind);
    });
  });
}

/** The keys of an iteration, sorted. */
export async function keysOf(storage: Pick<KeyValueStorage, "keys">, prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const key of storage.keys(prefix)) keys.push(key);
  return keys.sort();
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (value: Uint8Array | undefined): string | undefined => value && new TextDecoder().decode(value);
