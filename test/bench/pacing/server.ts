/** A separate process: the service with one token bucket. Each message refills the bucket. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { order } from "../order.ts";

/** The settings of the bucket, and its other clients. */
export interface Setting {
  readonly quota: number;
  readonly perSecond: number;
  /** Milliseconds between a request and its response. */
  readonly delay?: number;
  /** Tokens a second that another client takes, while tokens remain. */
  readonly otherClients?: number;
}

/** The requests since the previous message. */
export interface Count {
  readonly served: number;
  readonly refused: number;
  /** When the first request arrived, in milliseconds since 1970. */
  readonly firstAt: number;
  /** The most requests in any second. */
  readonly mostInSecond: number;
}

// Octokit's throttling reads "secondary rate", Stripe an error object in `error`; the others ignore both.
const problem = { code: "rate_limited", message: "The bucket is empty: a secondary rate limit." };
const refusal = JSON.stringify({ ...problem, error: problem });

let setting: Setting = { quota: 1, perSecond: 1 };
let level = 1;
let at = performance.now();
const none: Count = { served: 0, refused: 0, firstAt: Number.NaN, mostInSecond: 0 };
/** The times of the requests in the last second. */
let recent: number[] = [];
let count = { ...none };
let otherClientsTimer: NodeJS.Timeout | undefined;

function refill(): void {
  const now = performance.now();
  level = Math.min(setting.quota, level + ((now - at) * setting.perSecond) / 1000);
  at = now;
}

const server = createServer({ keepAliveTimeout: 0 }, (_, response) => {
  if (Number.isNaN(count.firstAt)) count.firstAt = performance.timeOrigin + performance.now();
  recent = [...recent.filter((time) => time > performance.now() - 1000), performance.now()];
  count.mostInSecond = Math.max(count.mostInSecond, recent.length);
  refill();
  const served = level >= 1;
  if (served) level -= 1;
  count[served ? "served" : "refused"] += 1;
  const body = served ? order : refusal;
  const untilNext = level >= 1 ? 0 : (1 - level) / setting.perSecond;
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-ratelimit-policy": `"default";q=${setting.quota};w=${(setting.quota / setting.perSecond).toFixed(3)}`,
    "x-ratelimit": `"default";r=${Math.floor(level)};t=${Math.ceil(untilNext)}`,
    ...(served ? {} : { "retry-after": String(Math.ceil(untilNext + Math.random() / 2)) }),
  };
  const respond = () => response.writeHead(served ? 200 : 429, headers).end(body);
  if (setting.delay === undefined) respond();
  else setTimeout(respond, setting.delay);
});

process.on("message", (next: Setting) => {
  const before = count;
  clearInterval(otherClientsTimer);
  setting = next;
  level = next.quota;
  at = performance.now();
  count = { ...none };
  recent = [];
  const { otherClients } = next;
  if (otherClients !== undefined) {
    otherClientsTimer = setInterval(() => {
      refill();
      level = Math.max(0, level - 1);
    }, 1000 / otherClients);
  }
  process.send?.(before);
});
// The parent process has ended.
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
