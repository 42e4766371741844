import { createClient } from "redis";
import type { KeyValueStore } from "../../../src/index.ts";
import { redisStore } from "../../../src/redis/index.ts";
import { sqliteStore } from "../../../src/sqlite/index.ts";
import type { WorkerJob } from "./messages.ts";

/** Opens the store that a job names. */
export async function openStore({ kind, at }: WorkerJob["store"]): Promise<KeyValueStore> {
  if (kind === "sqlite") return sqliteStore(at);
  return redisStore(await createClient({ url: at }).connect());
}
