/**
 * Pacing and a storage that a fleet shares.
 *
 * @module pod-partner/redis
 */

import { createHash } from "node:crypto";
import type { SharedPacing } from "../http/pacing/tokens.ts";
import { checkedConfiguration } from "../schemas/check.ts";
import { storageOptions } from "../storage/contract.ts";
import { createScript, type RedisClient } from "./client.ts";
import { RedisConnection } from "./connection.ts";
import { Fleet } from "./fleet.ts";
import { ceilingScript, script } from "./script.ts";

export type { SharedPacing } from "../http/pacing/tokens.ts";
export type { KeyValueStorage } from "../storage/contract.ts";
export type { IoredisClient, NodeRedisClient, RedisClient } from "./client.ts";
export type { RedisStorageOptions } from "./storage.ts";
export { redisStorage } from "./storage.ts";

/** Options of {@link redisPacing}. */
export interface RedisPacingOptions {
  /**
   * A name for the organization, the same in all of its processes. Default: a hash of the secret key. Processes with different keys of
   * one organization need a name to share its limits.
   */
  readonly organization?: string | undefined;
}

/**
 * Lets all processes of an organization share its rate limits through Redis, to the last token and without a 429 (specification 8).
 *
 * Each grant is one atomic script that uses the server's time. While Redis cannot be reached, each process paces itself, and no call
 * fails because of that. Redis stores only a hash of the secret key; its keys expire seconds after the last call.
 *
 * @param client A connected client of the package `redis` (4 or newer) or `ioredis`. The SDK does not close it.
 * @example
 * const redis = await createClient({ url }).connect();
 * const partner = new PodPartner({ baseUrl, secretKey, pacing: { shared: redisPacing(redis) } });
 */
export function redisPacing(client: RedisClient, options: RedisPacingOptions = {}): SharedPacing {
  const { organization } = checkedConfiguration(storageOptions, options, "storage");
  const scripts = { pacing: createScript(client, script), ceiling: createScript(client, ceilingScript) };
  return {
    kind: "redis",
    join(member) {
      const { baseUrl, secretKey } = member;
      const digest = createHash("sha256")
        .update(`pod-partner\n${baseUrl}\n${organization ?? secretKey}`)
        .digest("hex");
      // The braces keep all keys of an organization on one node of a cluster.
      const name = `pod-partner:{${digest.slice(0, 32)}}`;
      const connection = new RedisConnection({ ...scripts, ceilingKey: `${name}/ceiling` }, member);
      return new Fleet(member, connection, (policy) => `${name}:${policy}`);
    },
  };
}
