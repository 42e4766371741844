import type { RedisClient } from "../../../src/redis/index.ts";
import { type Call, clients as percall } from "../percall/clients.ts";

/** Octokit with its own two plugins, told to try again as often as they do. */
async function octokit(origin: string): Promise<Call> {
  const [{ Octokit }, { throttling }, { retry }] = await Promise.all([
    import("@octokit/core"),
    import("@octokit/plugin-throttling"),
    import("@octokit/plugin-retry"),
  ]);
  const again = () => true;
  const client = new (Octokit.plugin(throttling, retry))({
    auth: "key",
    baseUrl: origin,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    throttle: { onRateLimit: again, onSecondaryRateLimit: again },
  });
  return () => client.request("GET /orders/1");
}

/** The built package, sharing its pacing through a client of Redis that is connected. */
async function podPartnerWith(origin: string, redis: RedisClient): Promise<Call> {
  const built = (door: string): string => new URL(`../../../dist/${door}.js`, import.meta.url).href;
  const { PodPartner } = (await import(built("index"))) as typeof import("pod-partner");
  const { redisPacing } = (await import(built("redis"))) as typeof import("pod-partner/redis");
  const options = { baseUrl: `${origin}/v2`, secretKey: "a-secret-key", logger: {} };
  const partner = new PodPartner({ ...options, pacing: { store: redisPacing(redis) } });
  return () => partner.orders.get(`Order_${"0".repeat(26)}`);
}

async function withNodeRedis(origin: string, url: string): Promise<Call> {
  const { createClient } = await import("redis");
  const client = createClient({ url }).on("error", () => undefined);
  return podPartnerWith(origin, await client.connect());
}

async function withIoredis(origin: string, url: string): Promise<Call> {
  const { Redis } = await import("ioredis");
  return podPartnerWith(
    origin,
    new Redis(url).on("error", () => undefined),
  );
}

/** Everything at its defaults. */
export const clients = {
  "pod-partner": percall["pod-partner"],
  "pod-partner, node-redis": withNodeRedis,
  "pod-partner, ioredis": withIoredis,
  openai: percall.openai,
  stripe: percall.stripe,
  octokit,
} satisfies Readonly<Record<string, (origin: string, redisUrl: string) => Call | Promise<Call>>>;

export type ClientName = keyof typeof clients;
