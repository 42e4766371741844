import { Redis } from "ioredis";
import { PodPartner } from "pod-partner";
import { type RedisClient, redisPacing } from "pod-partner/redis";
import { createManualClock } from "pod-partner/testing";
import { createClient, createClientPool, RESP_TYPES } from "redis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { NodeRedisClient } from "../../src/redis/client.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";
import { describeWithRedis } from "./use-redis.ts";

const headers = { "x-ratelimit-policy": '"default";q=3000;w=60', "x-ratelimit": '"default";r=2900;t=0' };

describeWithRedis("the Redis clients that a fleet supports", () => {
  let server: RedisServer;
  const opened: (() => void)[] = [];

  beforeAll(async () => {
    server = await startRedis();
  });
  beforeEach(async () => {
    const client = await createClient({ url: server.url }).connect();
    await client.flushAll();
    client.destroy();
  });
  afterEach(() => {
    for (const close of opened.splice(0)) close();
  });
  afterAll(() => server.kill());

  const nodeRedis = async (options: { RESP?: 2; username?: string; password?: string } = {}) => {
    const client = await createClient({ url: server.url, ...options }).connect();
    opened.push(() => client.destroy());
    return client;
  };
  const ioredis = (options: { lazyConnect?: true; enableAutoPipelining?: true; keyPrefix?: string } = {}) => {
    const client = new Redis(server.url, options);
    opened.push(() => client.disconnect());
    return client;
  };

  /** The reason why the storage was lost during forty calls, if any, and the keys in Redis after them. */
  async function use(client: RedisClient): Promise<{ lost: string[]; keys: string[] }> {
    const lost: string[] = [];
    const partner = new PodPartner({
      baseUrl: "https://partner.example/v2",
      secretKey: "a-secret-key",
      clock: createManualClock(),
      pacing: { shared: redisPacing(client) },
      fetch: async () => Response.json({ message: "valid" }, { headers }),
      hooks: { onStorageLost: ({ reason }) => lost.push(reason) },
    });
    await Promise.all(Array.from({ length: 40 }, () => partner.auth.validate()));
    return { lost, keys: await (await nodeRedis()).keys("*") };
  }

  const bytes = { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.SIMPLE_STRING]: Buffer } as const;
  const clients: Record<string, () => RedisClient | Promise<RedisClient>> = {
    "node-redis": () => nodeRedis(),
    "node-redis with RESP2": () => nodeRedis({ RESP: 2 }),
    "node-redis that returns bytes": async () => (await nodeRedis()).withTypeMapping(bytes),
    "a pool of node-redis": async () => {
      const pool = createClientPool({ url: server.url });
      await pool.connect();
      opened.push(() => pool.destroy());
      return pool;
    },
    ioredis: () => ioredis(),
    "ioredis that connects with the first command": () => ioredis({ lazyConnect: true }),
    "ioredis with automatic pipelining": () => ioredis({ enableAutoPipelining: true }),
  };

  it.each(Object.entries(clients))("include %s", async (_, open) => {
    const { lost, keys } = await use(await open());
    expect(lost).toEqual([]);
    expect(keys).toEqual([expect.stringMatching(/^pod-partner:\{[0-9a-f]{32}\}:default$/)]);
  });

  it("keep the prefix of ioredis when it has one", async () => {
    const { lost, keys } = await use(ioredis({ keyPrefix: "shop:" }));
    expect(lost).toEqual([]);
    expect(keys).toEqual([expect.stringMatching(/^shop:pod-partner:/)]);
  });

  it("send only the commands that the documentation names, to the fleet's own keys", async () => {
    const admin = await nodeRedis();
    const allowed = ["+evalsha", "+eval", "+time", "+get", "+set"];
    await admin.aclSetUser("pacing", ["reset", "on", ">secret", "~pod-partner:*", ...allowed]);
    const { lost } = await use(await nodeRedis({ username: "pacing", password: "secret" }));
    expect(lost).toEqual([]);
  });

  it("are not reported as lost when a command succeeds before the client's ready event", async () => {
    const client = await nodeRedis();
    const early: NodeRedisClient = {
      isReady: false,
      evalSha: (sha1, options) => client.evalSha(sha1, options),
      eval: (script, options) => client.eval(script, options),
    };
    const { lost } = await use(early);
    expect(lost).toEqual([]);
  });
});
