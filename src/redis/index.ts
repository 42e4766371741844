import { createHash } from "node:crypto";
import type { PacingStore } from "../http/pacing/store.ts";
import { createScript, type RedisClient } from "./client.ts";
import { RedisConnection } from "./connection.ts";
import { Fleet } from "./fleet.ts";
import { script } from "./script.ts";

export type { PacingStore } from "../http/pacing/store.ts";
export type { IoredisClient, NodeRedisClient, RedisClient } from "./client.ts";

/** How a fleet is told from others in the same Redis. */
export interface RedisPacingOptions {
  /**
   * A name for the organization, the same in all of its processes. Default: a hash of the secret key, so that processes with
   * different keys of one organization need a name to share its limits.
   */
  readonly organization?: string | undefined;
}

/**
 * Lets all processes of an organization share its rate limits through Redis, to the last token and without a 429 (specification 8).
 *
 * Each grant is one step of a script by the server's own time. While Redis cannot be reached, each process paces itself, and
 * no call fails for it. Nothing of the key is stored but a hash; keys expire seconds after the last call.
 *
 * @param client A connected client of the package `redis` (4 or newer) or `ioredis`. It stays yours to close.
 * @example
 * const redis = await createClient({ url }).connect();
 * const partner = new PodPartner({ baseUrl, secretKey, pacing: { store: redisPacing(redis) } });
 */
export function redisPacing(client: RedisClient, { organization }: RedisPacingOptions = {}): PacingStore {
  const shared = createScript(client, script);
  return {
    kind: "redis",
    join(member) {
      const { baseUrl, secretKey, clock, observe } = member;
      const name = createHash("sha256").update(`pod-partner\n${baseUrl}\n${organization ?? secretKey}`);
      // The braces keep all buckets of an organization on one node of a cluster.
      const prefix = `pod-partner:{${name.digest("hex").slice(0, 32)}}:`;
      return new Fleet(member, new RedisConnection(shared, clock, observe), (policy) => prefix + policy);
    },
  };
}
