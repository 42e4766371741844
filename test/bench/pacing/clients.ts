import type { RedisClient } from "../../../src/redis/index.ts";
import { built, type Client, type ClientName as PeerName, clients as peers } from "../clients.ts";

type Call = Client["call"];

const callOf = (name: PeerName) => async (origin: string) => (await peers[name](origin)).call;

/** Octokit with its own two plugins, with the same number of retries. */
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

/** The built package, optionally with a ceiling and with its pacing shared through a connected Redis client. */
async function podPartnerWith(origin: string, redis?: RedisClient, ceiling?: Ceiling): Promise<Call> {
  const { PodPartner } = (await import(built("index"))) as typeof import("pod-partner");
  const { redisPacing } = (await import(built("redis"))) as typeof import("pod-partner/redis");
  const options = { baseUrl: `${origin}/v2`, secretKey: "a-secret-key", logger: {} };
  const shared = redis && redisPacing(redis);
  const partner = new PodPartner({ ...options, pacing: { shared, ...ceiling } });
  return () => partner.orders.get(`Order_${"0".repeat(26)}`);
}

async function connected(url: string): Promise<RedisClient> {
  const { createClient } = await import("redis");
  return createClient({ url })
    .on("error", () => undefined)
    .connect();
}

async function withIoredis(origin: string, url: string): Promise<Call> {
  const { Redis } = await import("ioredis");
  return podPartnerWith(
    origin,
    new Redis(url).on("error", () => undefined),
  );
}

/** A ceiling of the partner's own. */
export interface Ceiling {
  readonly perSecond: number;
  readonly burst: number;
}

/** The ceiling of the clients with `perSecond` in their name. */
export const ceiling: Ceiling = { perSecond: 20, burst: 20 };

/** What a partner writes without the SDK: `fetch` behind p-throttle, whose `strict` mode limits any window. */
async function throttledFetch(origin: string): Promise<Call> {
  const { default: pThrottle } = await import("p-throttle");
  const { burst, perSecond } = ceiling;
  const get = async () => (await fetch(`${origin}/v2/orders/1`)).json();
  return pThrottle({ limit: burst, interval: (1_000 * burst) / perSecond, strict: true })(get);
}

/** With default options. */
export const clients = {
  "pod-partner": callOf("pod-partner"),
  before: callOf("before"),
  "pod-partner, perSecond": (origin) => podPartnerWith(origin, undefined, ceiling),
  "pod-partner, node-redis": async (origin, url) => podPartnerWith(origin, await connected(url)),
  "pod-partner, node-redis, perSecond": async (origin, url) => podPartnerWith(origin, await connected(url), ceiling),
  "pod-partner, ioredis": withIoredis,
  "fetch + p-throttle": throttledFetch,
  openai: callOf("openai"),
  stripe: callOf("stripe"),
  octokit,
} satisfies Readonly<Record<string, (origin: string, redisUrl: string) => Call | Promise<Call>>>;

export type ClientName = keyof typeof clients;
