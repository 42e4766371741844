/** The options of a client in 1.0.0, its entry points and its errors. It is compiled, not run. */
import {
  ApiError,
  ConfigurationError,
  DeadlineError,
  memoryStorage,
  OrderMismatchError,
  PodPartner,
  PodPartnerError,
  RateLimitError,
  RendertokenLimitError,
  RequestTimeoutError,
  RequestValidationError,
  ResponseValidationError,
  StorageError,
} from "pod-partner";
import { createOrderFollower, createOrderUpdatedReceiver } from "pod-partner/callbacks";
import { nodeTransport } from "pod-partner/node";
import { instrument } from "pod-partner/opentelemetry";
import { postgresStorage } from "pod-partner/postgres";
import { redisPacing, redisStorage } from "pod-partner/redis";
import { sqliteStorage } from "pod-partner/sqlite";

declare const redis: Parameters<typeof redisStorage>[0];
declare const pool: Parameters<typeof postgresStorage>[0];

export const small = new PodPartner();
export const full = new PodPartner({
  baseUrl: "https://partner.example/v2",
  secretKey: "a-key-of-the-dashboard",
  timeout: 30_000,
  deadline: 120_000,
  retry: { retries: 4, baseDelay: 250, maxDelay: 10_000, maxRetryAfter: 120_000 },
  pacing: { shared: redisPacing(redis, { organization: "shop" }), perSecond: 30, burst: 10 },
  storage: redisStorage(redis, { organization: "shop" }),
  storageLost: "continue",
  responses: "throw",
  maxResponseSize: 1_000_000,
  transport: nodeTransport({ maxSockets: 20, connectTimeout: 5_000, ca: "", proxy: true }),
  hooks: {
    onRequest: ({ endpoint, attempt, callId }) => console.log(endpoint, attempt, callId),
    onResponse: ({ status, took }) => console.log(status, took),
    onRetry: ({ error, delay, status }) => console.log(error, delay, status),
    onPause: ({ reason, policy, length }) => console.log(reason, policy, length),
    onInvalidResponse: ({ issues, returned }) => console.log(issues[0]?.path, returned),
    onUnreadDownload: ({ error }) => console.log(error),
    onStorageLost: ({ option, reason }) => console.log(option, reason),
    onStorageBack: ({ option }) => console.log(option),
  },
  logger: console,
  clock: { now: () => performance.now(), date: () => Date.now(), after: () => () => undefined },
  assumptions: { processingTime: 30_000, noOrder: ["empty"], orderReferenceField: "reference" },
  dangerouslyAllowBrowser: false,
});
export const others = [
  new PodPartner({ retry: false, pacing: false, fetch: globalThis.fetch, assumptions: "assumptions.json" }),
  new PodPartner({ storage: memoryStorage({ maxSize: 1_000_000, organization: "shop" }), pacing: true }),
  new PodPartner({ storage: sqliteStorage("partner.db", { organization: "shop" }) }),
];

export async function migrate(): Promise<void> {
  const storage = postgresStorage(pool, { organization: "shop", table: "partner" });
  await storage.migrate();
  const value = await storage.get("key");
  await storage.set("key", value ?? new Uint8Array(), { ttl: 1_000, expected: null });
  await storage.delete("key", { expected: new Uint8Array() });
  for await (const key of storage.keys("")) console.log(key);
}

export const stop: () => void = instrument(full, { identifiers: true });

export const follower = createOrderFollower({
  partner: full,
  storage: memoryStorage(),
  onChange: ({ order, changes, signal }) => console.log(order.reference, changes[0]?.kind, signal.aborted),
  onGone: ({ orderReference }) => console.log(orderReference),
  onError: (error) => console.error(error),
  interval: 3_600_000,
  timeout: 30_000,
  keepFor: 86_400_000,
});
const receivers = [
  createOrderUpdatedReceiver({ follower, token: "a-long-and-random-token" }),
  createOrderUpdatedReceiver({
    partner: full,
    token: false,
    onOrderUpdated: ({ order, signal }) => console.log(order.orderlines.length, signal.aborted),
    timeout: 10_000,
    concurrency: 4,
    onError: (error) => console.error(error),
  }),
];

export async function serve(request: Request): Promise<Response | undefined> {
  const { checked } = await follower.reconcile({ concurrency: 2, onProgress: ({ checked: so }) => console.log(so) });
  console.log(checked);
  const response = await receivers[0]?.fetch(request);
  await receivers[1]?.close();
  await follower.close();
  return response;
}

export function explain(error: unknown): string {
  if (error instanceof ConfigurationError || RequestValidationError.isInstance(error)) {
    return error.issues.map(({ path, message }) => `${path.join(".")} ${message}`).join();
  }
  if (error instanceof RateLimitError) return `again in ${error.retryAfter}`;
  if (error instanceof RendertokenLimitError) return `again at ${error.resetsAt}`;
  if (error instanceof ApiError)
    return `${error.status} ${error.code} ${error.serviceMessage} ${error.response.status}`;
  if (error instanceof RequestTimeoutError || error instanceof DeadlineError) return error.name;
  if (error instanceof ResponseValidationError) return error.message;
  if (error instanceof OrderMismatchError || error instanceof StorageError) return error.message;
  if (!(error instanceof PodPartnerError)) return "another error";
  const { isRetryable, endpoint, callId, hint, timeline, identifiers, docs } = error;
  return JSON.stringify([isRetryable, endpoint, callId, hint, timeline, identifiers, docs, error.toJSON()]);
}
