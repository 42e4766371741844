import { createClient } from "redis";
import type { KeyValueStore } from "../../src/index.ts";
import { redisStore } from "../../src/redis/index.ts";
import { sqliteStore } from "../../src/sqlite/index.ts";

export const storeKinds = ["sqlite", "redis"] as const;
export type StoreKind = (typeof storeKinds)[number];

/** The path of a file, or the URL of a Redis. */
export interface StorePlace {
  readonly kind: StoreKind;
  readonly at: string;
}

/** Opens the store that a job names. */
export async function openStore({ kind, at }: StorePlace): Promise<KeyValueStore> {
  if (kind === "sqlite") return sqliteStore(at);
  // A soak stops its Redis at the end, before this process. Until then, the client of the SDK reports a lost store.
  const client = createClient({ url: at }).on("error", () => undefined);
  return redisStore(await client.connect());
}
