import { once } from "node:events";
import { Redis } from "ioredis";
import { PodPartner, type PodPartnerOptions } from "pod-partner";
import { type RedisClient, redisPacing } from "pod-partner/redis";
import { createManualClock } from "pod-partner/testing";
import { createClient } from "redis";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type RedisServer, startRedis } from "../support/redis.ts";
import { settle } from "../support/settle.ts";
import { describeWithRedis } from "./use-redis.ts";

const secretKey = "key-5up3r53cr3t";
const headers = { "x-ratelimit-policy": '"default";q=3000;w=60', "x-ratelimit": '"default";r=2900;t=0' };

interface Connection {
  readonly client: RedisClient;
  /** Resolves at the next event with this name. */
  next(event: "ready" | "down"): Promise<unknown>;
  close(): void;
}

/** Both clients reconnect by themselves, at once and forever. */
const packages = {
  redis: async (url: string): Promise<Connection> => {
    const client = createClient({ url, socket: { reconnectStrategy: 5 } }).on("error", () => undefined);
    await client.connect();
    return {
      client,
      next: (event) => new Promise((resolve) => client.once(event === "down" ? "reconnecting" : event, resolve)),
      close: () => client.destroy(),
    };
  },
  ioredis: async (url: string): Promise<Connection> => {
    const client = new Redis(url, { retryStrategy: () => 5 }).on("error", () => undefined);
    await once(client, "ready");
    return {
      client,
      next: (event) => new Promise((resolve) => client.once(event === "down" ? "reconnecting" : event, resolve)),
      close: () => client.disconnect(),
    };
  },
};

describeWithRedis("a fleet that loses Redis", () => {
  let server: RedisServer;
  let connection: Connection | undefined;

  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    connection?.close();
    connection = undefined;
    await server.kill();
    vi.restoreAllMocks();
  });

  /** A client whose service responds at once, and the events of its storage. */
  function watch(client: RedisClient, options: PodPartnerOptions = {}) {
    const clock = createManualClock();
    const events: string[] = [];
    const back = Promise.withResolvers<void>();
    const partner = new PodPartner({
      baseUrl: "https://partner.example/v2",
      secretKey,
      clock,
      pacing: { shared: redisPacing(client) },
      fetch: async () => Response.json({ message: "valid" }, { headers }),
      hooks: {
        onStorageLost: ({ reason }) => events.push(`lost: ${reason}`),
        onStorageBack: () => {
          events.push("back");
          back.resolve();
        },
      },
      ...options,
    });
    const calls = (count: number) => Promise.all(Array.from({ length: count }, () => partner.auth.validate()));
    return { clock, partner, events, back: back.promise, calls };
  }

  it.each(["redis", "ioredis"] as const)(
    "continues at once, with one warning, and reconnects by itself: %s",
    async (name) => {
      connection = await packages[name](server.url);
      const { clock, events, back, calls } = watch(connection.client);
      await calls(40);
      expect(events).toEqual([]);

      const down = connection.next("down");
      await server.kill();
      await down;
      await calls(40);
      await calls(40);
      expect(events).toEqual([expect.stringContaining("lost: ")]);

      const ready = connection.next("ready");
      await server.start();
      await ready;
      await clock.advance(500);
      await calls(1);
      await back;
      // Other processes may still pace themselves: for a while tokens come one by one.
      let done = false;
      const rest = calls(40).finally(() => {
        done = true;
      });
      await vi.waitUntil(() => clock.advance(1).then(() => done), { interval: 5, timeout: 60_000 });
      await rest;
      expect(events).toEqual([expect.stringContaining("lost: "), "back"]);
      // The fleet reports changes after 100 ms; then no timer is left.
      await clock.advance(100);
      await vi.waitUntil(() => clock.pending === 0, { interval: 5, timeout: 60_000 });
    },
  );

  it("continues after half a second when Redis hangs", async () => {
    connection = await packages.redis(server.url);
    const { clock, events, calls } = watch(connection.client);
    await calls(1);
    server.pause();
    // The first call may have left prefetched tokens.
    const waiting = calls(100);
    await clock.advance(500);
    await settle(clock, waiting, 10);
    expect(events).toEqual(["lost: no reply within 500 ms"]);
    server.resume();
  });

  it("keeps Redis when the process itself is blocked for longer than half a second", async () => {
    connection = await packages.redis(server.url);
    const { events, calls } = watch(connection.client, { clock: undefined });
    const call = calls(1);
    // Until the visit is on its way. Its reply arrives while the process is blocked.
    await new Promise(setImmediate);
    const until = performance.now() + 700;
    while (performance.now() < until);
    await call;
    expect(events).toEqual([]);
  });

  it("continues when the Redis client was never connected", async () => {
    const { events, calls } = watch(createClient({ url: server.url }) as RedisClient);
    await calls(40);
    expect(events).toEqual(["lost: The client is closed"]);
  });

  it("continues when its keys hold other data, or when the script is not allowed", async () => {
    const refusal = () => Promise.reject(new Error("NOPERM this user has no permissions to run the 'evalsha' command"));
    const { events, calls } = watch({ evalSha: refusal, eval: refusal });
    await calls(40);
    expect(events).toEqual([expect.stringContaining("NOPERM")]);

    const garbage = async () => "12 monkeys";
    const other = watch({ evalsha: garbage, eval: garbage });
    await other.calls(40);
    expect(other.events).toHaveLength(1);
  });

  it("reports nothing when the program closes its Redis client after the last call", async () => {
    connection = await packages.redis(server.url);
    const { clock, events, calls } = watch(connection.client);
    await calls(1);
    const down = connection.next("down");
    await server.kill();
    await down;
    await clock.advance(1_000);
    await vi.waitUntil(() => clock.pending === 0, { interval: 5, timeout: 60_000 });
    expect(events).toEqual([]);
    await server.start();
  });

  it("emits a process warning without a hook and a logger", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const { calls } = watch(createClient({ url: server.url }) as RedisClient, { hooks: {} });
    await calls(40);
    expect(warn.mock.calls).toEqual([[expect.stringContaining("paces itself"), { code: "POD_PARTNER_STORAGE_LOST" }]]);
  });
});
