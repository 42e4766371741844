import { join } from "node:path";
import { Pool } from "pg";
import { createClient } from "redis";
import type { KeyValueStorage } from "../../src/index.ts";
import { postgresStorage } from "../../src/postgres/index.ts";
import { redisStorage } from "../../src/redis/index.ts";
import { sqliteStorage } from "../../src/sqlite/index.ts";
import { startPostgres } from "../support/postgres.ts";
import { startRedis } from "../support/redis.ts";

export const storeKinds = ["sqlite", "redis", "postgres"] as const;
export type StorageKind = (typeof storeKinds)[number];

/** The path of a file, or the URL of a Redis or a Postgres. */
export interface StorePlace {
  readonly kind: StorageKind;
  readonly at: string;
}

/** A store that a soak has started. */
export interface Store {
  readonly place: StorePlace;
  /** Ends the server as a crash would; undefined without a server. */
  readonly crash?: () => Promise<void>;
  readonly start?: () => Promise<void>;
  readonly end: () => Promise<void>;
}

/** Starts a server that keeps its data after a crash. SQLite has none. */
export async function startStore(kind: StorageKind, folder: string): Promise<Store> {
  if (kind === "sqlite") return { place: { kind, at: join(folder, "storage.sqlite") }, end: async () => undefined };
  if (kind === "redis") {
    const { url, kill, start } = await startRedis({ folder });
    return { place: { kind, at: url }, crash: kill, start, end: kill };
  }
  const { url, crash, start, kill } = await startPostgres({ autovacuum: "on" });
  const place = { kind, at: url };
  const pool = openPool(place);
  await postgresStorage(pool).migrate();
  await pool.end();
  return { place, crash, start, end: kill };
}

/** The pool goes on when Postgres is back. */
export const openPool = ({ at }: StorePlace): Pool =>
  new Pool({ connectionString: at, max: 8 }).on("error", () => undefined);

/** The client goes on when Redis is back. A soak ends its Redis before its processes. */
export const openRedis = ({ at }: StorePlace) =>
  createClient({ url: at })
    .on("error", () => undefined)
    .connect();

/** Opens the storage that a job names. */
export async function openStorage(place: StorePlace): Promise<KeyValueStorage> {
  if (place.kind === "sqlite") return sqliteStorage(place.at);
  return place.kind === "redis" ? redisStorage(await openRedis(place)) : postgresStorage(openPool(place));
}
