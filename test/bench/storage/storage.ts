import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { KeyValueStorage } from "../../../src/storage/contract.ts";
import { pgbouncerInstalled, postgresInstalled, startPgBouncer, startPostgres } from "../../support/postgres.ts";
import { redisInstalled, startRedis } from "../../support/redis.ts";
import { prepare } from "../prepare.ts";
import { median, printTable } from "../table.ts";

const rounds = 5;
/** Different keys that are written and read in turn. */
const keys = 500;

/** What a partner's client keeps: a small JSON, and a piece of a file. */
const values = { "200 B": { size: 200, count: 4_000 }, "64 kB": { size: 65_536, count: 500 } } as const;

type Peer = Pick<KeyValueStorage, "get"> & { set(key: string, value: Uint8Array): Promise<unknown> };
interface Subject {
  readonly name: string;
  readonly stores: readonly [own: Peer, peer: Peer];
  /** By how much fewer operations are measured. Default 1. */
  readonly slowness?: number;
}

const built = <Module>(door: string): Promise<Module> =>
  import(new URL(`../../../dist/${door}.js`, import.meta.url).href);

/** Operations a second, one after the other. */
async function rate(count: number, work: (key: string) => Promise<unknown>): Promise<number> {
  const began = performance.now();
  for (let index = 0; index < count; index += 1) await work(`key:${index % keys}`);
  return count / ((performance.now() - began) / 1000);
}

/** Writes and reads of a storage and its peer in turn, so that a drift of the machine cancels out. */
async function measure(subject: Subject, value: { readonly size: number; readonly count: number }) {
  const { stores, slowness = 1 } = subject;
  const count = Math.ceil(value.count / slowness);
  const bytes = new Uint8Array(value.size).fill(0x61);
  const samples = stores.map(() => ({ writes: [] as number[], reads: [] as number[] }));
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, storage] of stores.entries()) {
      const writes = await rate(count, (key) => storage.set(key, bytes));
      const reads = await rate(count, (key) => storage.get(key));
      // The first round warms up.
      if (round < 0) continue;
      samples[index]?.writes.push(writes);
      samples[index]?.reads.push(reads);
    }
  }
  return samples.map(({ writes, reads }) => [median(writes), median(reads)] as const);
}

async function memory(): Promise<Subject> {
  const { memoryStorage } = await built<typeof import("pod-partner")>("index");
  const map = new Map<string, Uint8Array>();
  const peer = {
    get: async (key: string) => map.get(key),
    set: async (key: string, value: Uint8Array) => map.set(key, value),
  };
  return { name: "memoryStorage / Map", stores: [memoryStorage(), peer] };
}

async function sqlite(folder: string): Promise<Subject> {
  const { sqliteStorage } = await built<typeof import("pod-partner/sqlite")>("sqlite");
  const database = new DatabaseSync(join(folder, "peer.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  database.exec("CREATE TABLE entries (id INTEGER PRIMARY KEY, key TEXT UNIQUE, value BLOB)");
  const [set, get] = [
    "INSERT INTO entries (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    "SELECT value FROM entries WHERE key = ?",
  ].map((text) => database.prepare(text));
  const peer = {
    get: async (key: string) => get?.get(key)?.value as Uint8Array,
    set: async (key: string, value: Uint8Array) => set?.run(key, value),
  };
  return { name: "sqliteStorage / node:sqlite", stores: [sqliteStorage(join(folder, "storage.db")), peer] };
}

/** A storage on a client of Postgres, beside the two statements that a program would send with it. */
async function onPostgres(name: string, client: Queryable): Promise<Subject> {
  const { postgresStorage } = await built<typeof import("pod-partner/postgres")>("postgres");
  const storage = postgresStorage(client);
  await storage.migrate();
  await client.query("CREATE TABLE IF NOT EXISTS peer (key text PRIMARY KEY, value bytea)");
  const set = "INSERT INTO peer VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
  const peer = {
    get: async (key: string) => {
      const { rows } = await client.query("SELECT value FROM peer WHERE key = $1", [key]);
      return (rows[0] as { value: Uint8Array } | undefined)?.value;
    },
    set: (key: string, value: Uint8Array) => client.query(set, [key, Buffer.from(value)]),
  };
  return { name: `postgresStorage / ${name}`, stores: [storage, peer], slowness: 10 };
}

interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Postgres, without `fsync`, Postgres behind PgBouncer, and PGlite in memory. */
async function* postgres(): AsyncGenerator<Subject> {
  const [{ Pool }, { PGlite }] = await Promise.all([import("pg"), import("@electric-sql/pglite")]);
  if (postgresInstalled) {
    const server = await startPostgres();
    const bouncer = pgbouncerInstalled ? await startPgBouncer(server) : undefined;
    try {
      const ways = [{ port: server.port, name: "pg" }];
      if (bouncer !== undefined) ways.push({ port: bouncer.port, name: "pg and PgBouncer" });
      for (const { port, name } of ways) {
        const pool = new Pool({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
        yield await onPostgres(name, pool);
        await pool.end();
      }
    } finally {
      await bouncer?.kill();
      await server.kill();
    }
  }
  const database = await PGlite.create();
  yield await onPostgres("PGlite", database);
  await database.close();
}

async function* subjects(folder: string, inRedis: Subject | undefined): AsyncGenerator<Subject> {
  yield await memory();
  yield await sqlite(folder);
  if (inRedis) yield inRedis;
  yield* postgres();
}

async function redis(url: string): Promise<Subject & Disposable> {
  const { createClient } = await import("redis");
  const { redisStorage } = await built<typeof import("pod-partner/redis")>("redis");
  const client = await createClient({ url }).connect();
  const peer = {
    get: async (key: string) => Buffer.from((await client.get(`peer:${key}`)) ?? ""),
    set: (key: string, value: Uint8Array) => client.set(`peer:${key}`, Buffer.from(value)),
  };
  const stores = [redisStorage(client), peer] as const;
  return { name: "redisStorage / redis", stores, [Symbol.dispose]: () => client.destroy() };
}

/** Reads and writes a second of each storage, beside what it is made of. */
export async function run(): Promise<void> {
  prepare();
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-bench-"));
  const server = redisInstalled ? await startRedis() : undefined;
  const inRedis = server && (await redis(server.url));
  try {
    const rows: string[][] = [];
    for await (const subject of subjects(folder, inRedis)) {
      for (const [title, value] of Object.entries(values)) {
        const [own, peer] = await measure(subject, value);
        const cells = [0, 1].map((index) => `${own?.[index]?.toFixed(0)} / ${peer?.[index]?.toFixed(0)}`);
        rows.push([`${subject.name}, ${title}`, ...cells]);
      }
    }
    printTable(["storage / peer", "writes a second", "reads a second"], rows);
  } finally {
    inRedis?.[Symbol.dispose]();
    await server?.kill();
    await rm(folder, { recursive: true, force: true });
  }
}
