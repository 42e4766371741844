import { createClient } from "redis";
import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { type RedisServer, redisInstalled, startRedis } from "../support/redis.ts";

/** Skipped on a machine without Redis, but not in CI. */
export const describeWithRedis = describe.skipIf(!redisInstalled && !process.env.CI);

const connect = (server: RedisServer) => createClient({ url: server.url }).connect();

/** A connected client of the package `redis`. */
export type Connected = Awaited<ReturnType<typeof connect>>;

/** One Redis and one client for the tests of a file; Redis is empty before each test. */
export function useRedis(): { readonly server: RedisServer; readonly redis: Connected } {
  let server: RedisServer | undefined;
  let redis: Connected | undefined;

  beforeAll(async () => {
    server = await startRedis();
    redis = await connect(server);
  });
  beforeEach(async () => {
    await redis?.flushAll();
  });
  afterAll(async () => {
    redis?.destroy();
    await server?.kill();
  });

  const started = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("useRedis() works only inside a test");
    return value;
  };
  return {
    get server() {
      return started(server);
    },
    get redis() {
      return started(redis);
    },
  };
}
