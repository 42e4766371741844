import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { ConfigurationError, type KeyValueStorage } from "pod-partner";
import { type RedisClient, redisStorage } from "pod-partner/redis";
import { createClient, createClientPool, createCluster, RESP_TYPES } from "redis";
import { afterEach, expect, it } from "vitest";
import { bytes, keysOf, text } from "../storage/storages.ts";
import { freePort, listening } from "../support/port.ts";
import { startRedis } from "../support/redis.ts";
import { describeWithRedis, useRedis } from "./use-redis.ts";

const all = Uint8Array.from({ length: 256 }, (_, index) => index);

describeWithRedis("a storage in Redis", () => {
  const context = useRedis();
  const opened: (() => void)[] = [];
  afterEach(() => {
    for (const close of opened.splice(0)) close();
  });
  async function nodeRedis(options: object = {}) {
    const client = createClient({ url: context.server.url, ...options }).on("error", () => undefined);
    await client.connect();
    opened.push(() => client.destroy());
    return client;
  }
  function ioredis(options: object = {}) {
    const client = new Redis({ port: context.server.port, ...options }).on("error", () => undefined);
    opened.push(() => client.disconnect());
    return client;
  }

  const mapping = { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.SIMPLE_STRING]: Buffer } as const;
  const clients: Record<string, () => RedisClient | Promise<RedisClient>> = {
    "node-redis": () => nodeRedis(),
    "node-redis with RESP2": () => nodeRedis({ RESP: 2 }),
    "node-redis that returns bytes": async () => (await nodeRedis()).withTypeMapping(mapping),
    "a pool of node-redis": async () => {
      const pool = createClientPool({ url: context.server.url });
      await pool.connect();
      opened.push(() => pool.destroy());
      return pool;
    },
    ioredis: () => ioredis(),
    "ioredis that connects with the first command": () => ioredis({ lazyConnect: true }),
    "ioredis with automatic pipelining": () => ioredis({ enableAutoPipelining: true }),
    "ioredis with a prefix": () => ioredis({ keyPrefix: "a*:" }),
  };

  async function expectToWork(storage: KeyValueStorage): Promise<void> {
    const prefix = "pod-partner:{scope}:";
    expect(await storage.set(`${prefix}1`, all, { expected: null })).toBe(true);
    expect(await storage.set(`${prefix}2`, bytes("2"), { ttl: 60_000 })).toBe(true);
    expect(await storage.set(`${prefix}1`, all, { expected: null })).toBe(false);
    expect(await storage.get(`${prefix}1`)).toEqual(all);
    expect(await keysOf(storage, prefix)).toEqual([`${prefix}1`, `${prefix}2`]);
    expect(await storage.delete(`${prefix}1`, { expected: all })).toBe(true);
    expect(await storage.get(`${prefix}1`)).toBeUndefined();
  }

  it.each(Object.entries(clients))("works with %s", async (_, open) => {
    await expectToWork(redisStorage(await open()));
  });

  it("holds what every client can read, with a lifetime that Redis keeps", async () => {
    await redisStorage(ioredis()).set("key", all, { ttl: 60_000 });
    expect(await redisStorage(context.redis).get("key")).toEqual(all);
    expect(await context.redis.get("key")).toBe(Buffer.from(all).toString("base64"));
    const left = await context.redis.pTTL("key");
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_000);
    await redisStorage(context.redis).set("key", all);
    expect(await context.redis.pTTL("key")).toBe(-1);
  });

  const foreign: Record<string, (key: string) => Promise<unknown>> = {
    "a list": (key) => context.redis.rPush(key, "1"),
    "a hash": (key) => context.redis.hSet(key, "field", "1"),
    "a number": (key) => context.redis.set(key, "17"),
    "a text": (key) => context.redis.set(key, "not a value of a storage"),
    "bytes that are no text": (key) => context.redis.set(key, Buffer.from([0xff, 0xfe, 0xfd, 0x00])),
  };

  it.each(Object.entries(foreign))("takes a key that holds %s as absent, and can set and delete it", async (_, put) => {
    const storage = redisStorage(context.redis);
    await put("key");
    expect(await storage.get("key")).toBeUndefined();
    expect(await storage.set("key", bytes("1"), { expected: bytes("0") })).toBe(false);
    expect(await storage.set("key", bytes("1"), { expected: null })).toBe(true);
    expect(text(await storage.get("key"))).toBe("1");
    await context.redis.del("key");
    await put("key");
    expect(await storage.set("key", bytes("2"))).toBe(true);
    expect(text(await storage.get("key"))).toBe("2");
    await context.redis.del("key");
    await put("key");
    await storage.delete("key");
    expect(await context.redis.exists("key")).toBe(0);
  });

  it("still reports what Redis itself refuses", async () => {
    await context.redis.aclSetUser("reader", ["reset", "on", ">secret", "~pod-partner:*", "+evalsha", "+eval"]);
    const storage = redisStorage(await nodeRedis({ username: "reader", password: "secret" }));
    await expect(storage.get("pod-partner:1")).rejects.toThrow(/permission|can't run/);
    await expect(storage.set("pod-partner:1", bytes("1"), { expected: null })).rejects.toThrow(/permission|can't run/);
  });

  it("survives that Redis forgets its scripts", async () => {
    const storage = redisStorage(context.redis);
    await storage.set("key", bytes("1"));
    await context.redis.scriptFlush();
    expect(text(await storage.get("key"))).toBe("1");
    expect(await keysOf(storage, "")).toEqual(["key"]);
  });

  it("reads the keys in steps, each of a bounded size", async () => {
    const values = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`other:${index}`, "1"]));
    await context.redis.mSet(values);
    const steps: number[] = [];
    const counting = {
      isReady: true,
      eval: (script: string, options: { keys: string[]; arguments: string[] }) => context.redis.eval(script, options),
      evalSha: async (sha1: string, options: { keys: string[]; arguments: string[] }) => {
        const result = await context.redis.evalSha(sha1, options);
        steps.push(String(result).split("\n").length);
        return result;
      },
    };
    expect(await keysOf(redisStorage(counting), "other:")).toHaveLength(10_000);
    expect(steps.length).toBeGreaterThan(5);
    expect(Math.max(...steps)).toBeLessThan(2_000);
  });

  it("sends only the commands that the documentation names, to its own keys", async () => {
    const allowed = ["+evalsha", "+eval", "+get", "+set", "+del", "+scan"];
    await context.redis.aclSetUser("storage", ["reset", "on", ">secret", "~pod-partner:*", ...allowed]);
    await expectToWork(redisStorage(await nodeRedis({ username: "storage", password: "secret" })));
  });

  it("works on a cluster, where the keys of an organization are on one node", async () => {
    await using node = await startClusterNode();
    const cluster = createCluster({ rootNodes: [{ url: node.url }] });
    await cluster.connect();
    opened.push(() => cluster.destroy());
    await expectToWork(redisStorage(cluster));
  });

  it("refuses an object that is not a client, and unknown options", () => {
    for (const client of [undefined, null, {}, "redis://localhost", new Map()]) {
      expect(() => redisStorage(client as never)).toThrow(ConfigurationError);
    }
    expect(() => redisStorage(context.redis, { organisation: "shop" } as never)).toThrow("unknown option");
  });

  it.each(["node-redis", "ioredis"])(
    "fails at once while the connection of %s is down, and works when it is back",
    async (kind) => {
      const server = await startRedis();
      opened.push(() => void server.kill());
      const { url } = server;
      const client =
        kind === "ioredis"
          ? ioredis({ port: server.port, retryStrategy: () => 5 })
          : await nodeRedis({ url, socket: { reconnectStrategy: 5 } });
      const storage = redisStorage(client);
      await storage.set("key", bytes("1"));
      const emitter: { once(event: string, listener: () => void): unknown } = client;
      const next = (event: string) => new Promise<void>((resolve) => void emitter.once(event, resolve));
      const down = next("reconnecting");
      await server.kill();
      await down;
      await expect(storage.set("key", bytes("2"))).rejects.toThrow("the connection to Redis is down");
      const back = next("ready");
      await server.start();
      await back;
      // Redis started empty, and the change from before was not kept for later.
      expect(await storage.get("key")).toBeUndefined();
      expect(await storage.set("key", bytes("3"), { expected: null })).toBe(true);
    },
  );
});

/** A cluster of one node. */
async function startClusterNode() {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-cluster-"));
  // The bus of the cluster listens, too. By default at this port and 10,000, which another connection may have.
  const [port, bus] = [await freePort(), await freePort()];
  const own = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  const cluster = ["--cluster-enabled", "yes", "--cluster-port", String(bus), "--cluster-announce-ip", "127.0.0.1"];
  const child = spawn("redis-server", [...own, ...cluster], { stdio: "ignore" });
  await listening(port);
  const admin = createClient({ url: `redis://127.0.0.1:${port}` });
  await admin.connect();
  await admin.sendCommand(["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
  const ready = async () => String(await admin.sendCommand(["CLUSTER", "INFO"])).includes("cluster_state:ok");
  for (let attempt = 0; attempt < 500 && !(await ready()); attempt += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
  admin.destroy();
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
