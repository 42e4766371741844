import { createClient } from "redis";
import type { KeyValueStorage } from "../../src/index.ts";
import { redisStorage } from "../../src/redis/index.ts";
import { sqliteStorage } from "../../src/sqlite/index.ts";

export const storeKinds = ["sqlite", "redis"] as const;
export type StorageKind = (typeof storeKinds)[number];

/** The path of a file, or the URL of a Redis. */
export interface StorePlace {
  readonly kind: StorageKind;
  readonly at: string;
}

/** Opens the storage that a job names. */
export async function openStorage({ kind, at }: StorePlace): Promise<KeyValueStorage> {
  if (kind === "sqlite") return sqliteStorage(at);
  // A soak stops its Redis at the end, before this process. Until then, the client of the SDK reports a lost storage.
  const client = createClient({ url: at }).on("error", () => undefined);
  return redisStorage(await client.connect());
}
