/** A process of its own: the service with one token bucket, which is filled anew by each message. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { order } from "../order.ts";

/** What the bucket shall be, and what else happens to it. */
export interface Setting {
  readonly quota: number;
  readonly perSecond: number;
  /** Milliseconds between a request's arrival and its answer. */
  readonly delay?: number;
  /** Tokens a second that somebody else takes, as long as there are some. */
  readonly drink?: number;
}

/** What has been asked of it since the setting before. */
export interface Count {
  readonly served: number;
  readonly refused: number;
  /** When the first request came, in milliseconds since 1970. */
  readonly firstAt: number;
  /** The most requests in any second. */
  readonly mostInSecond: number;
}

// Octokit's throttling looks for "secondary rate", Stripe for an error object under `error`; to the others both are nothing.
const problem = { code: "rate_limited", message: "The bucket is empty: a secondary rate limit." };
const refusal = JSON.stringify({ ...problem, error: problem });

let setting: Setting = { quota: 1, perSecond: 1 };
let level = 1;
let at = performance.now();
const none: Count = { served: 0, refused: 0, firstAt: Number.NaN, mostInSecond: 0 };
/** When the requests of the last second came. */
let recent: number[] = [];
let count = { ...none };
let drinking: NodeJS.Timeout | undefined;

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
  const answer = () => response.writeHead(served ? 200 : 429, headers).end(body);
  if (setting.delay === undefined) answer();
  else setTimeout(answer, setting.delay);
});

process.on("message", (next: Setting) => {
  const before = count;
  clearInterval(drinking);
  setting = next;
  level = next.quota;
  at = performance.now();
  count = { ...none };
  const { drink } = next;
  if (drink !== undefined) {
    drinking = setInterval(() => {
      refill();
      level = Math.max(0, level - 1);
    }, 1000 / drink);
  }
  process.send?.(before);
});
// Whoever started it is gone.
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
