import { memoryStorage, PodPartner } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { fetchFailed } from "../../support/fetch-failed.ts";
import { combinedOrder } from "../../support/orders.ts";
import { ref } from "../../support/references.ts";
import { settle } from "../../support/settle.ts";

type Options = NonNullable<ConstructorParameters<typeof PodPartner>[0]>;
type Reply = Response | "refused" | undefined;

const json = (status: number, body: object, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
const limited = (headers: Record<string, string> = {}) =>
  json(429, { code: "rate_limited", message: "Too many requests." }, headers);

interface Setting {
  readonly options?: Options;
  /** `silent`: only its 429s show that there is one, with the time until the next token. */
  readonly bucket?: { readonly quota: number; readonly interval: number; readonly silent?: true };
  /** What happens to a creation instead of an order. */
  readonly onCreate?: (nth: number) => Reply;
  /** Runs after the service has looked the order up, and before the client has the response. */
  readonly onLookUp?: (nth: number, suspend: (ms: number) => void) => void;
  /** Runs in the hook `onRequest` of a creation. */
  readonly onRequest?: (nth: number, suspend: (ms: number) => void) => void;
}

/** A client and a service that are 20 ms apart. Another process places the order after `placedAfter` milliseconds. */
function setUp(
  { options = {}, bucket, onCreate, onLookUp, onRequest }: Setting,
  placedAfter = Number.POSITIVE_INFINITY,
) {
  const manual = createManualClock();
  let suspended = 0;
  const suspend = (ms: number) => {
    suspended += ms;
  };
  const clock = { now: () => manual.now() + suspended, after: manual.after };
  const began = clock.now();
  let lookedAt = Number.NEGATIVE_INFINITY;
  const seen = { lookUps: 0, creations: 0, orders: 0, refused: 0, oldest: 0, now: () => clock.now() - began };
  let level = bucket?.quota ?? 0;
  let levelAt = began;
  const draw = (): Record<string, string> | undefined => {
    if (bucket === undefined) return {};
    const { quota, interval } = bucket;
    level = Math.min(quota, level + (clock.now() - levelAt) / interval);
    levelAt = clock.now();
    if (level < 1) return undefined;
    level -= 1;
    if (bucket.silent) return {};
    return {
      "x-ratelimit-policy": `"default";q=${quota};w=${Math.round((quota * interval) / 1_000)}`,
      "x-ratelimit": `"default";r=${Math.floor(level)};t=${Math.ceil(interval / 1_000)}`,
    };
  };
  const pass = (ms: number) => new Promise<void>((resolve) => void manual.after(ms, resolve));
  const fetch: Options["fetch"] = async (input, init) => {
    const request = new Request(input, init);
    await pass(10);
    const headers = draw();
    let reply: Reply;
    if (headers === undefined) {
      seen.refused += 1;
      const wait = bucket?.silent ? Math.ceil(((1 - level) * bucket.interval) / 1_000) : 1;
      reply = limited({ "retry-after": String(wait) });
    } else if (request.url.includes("lookup")) {
      seen.lookUps += 1;
      lookedAt = clock.now();
      const exists = clock.now() - began >= placedAfter;
      reply = exists
        ? json(200, { orderReference: ref("Order", "1") }, headers)
        : json(404, { code: "not_found", message: "There is no such order." }, headers);
      onLookUp?.(seen.lookUps, suspend);
    } else if (new URL(request.url).pathname === "/v2/orders") {
      seen.oldest = Math.max(seen.oldest, clock.now() - lookedAt);
      seen.creations += 1;
      reply = onCreate?.(seen.creations);
      if (reply === undefined) {
        seen.orders += 1;
        reply = json(201, { order: { reference: ref("Order", String(seen.orders)) } }, headers);
      }
    } else reply = json(200, { message: "ok" }, headers);
    await pass(10);
    if (reply === "refused") throw fetchFailed("ECONNREFUSED", "connect");
    return reply;
  };
  let begun = 0;
  const hooks: Options["hooks"] = {
    onRequest: ({ endpoint }) => {
      if (endpoint === "POST /orders") onRequest?.(++begun, suspend);
    },
  };
  const partner = new PodPartner({
    baseUrl: "https://api.example.com/v2",
    secretKey: "test-key-5up3r53cr3t",
    clock,
    fetch,
    hooks,
    ...options,
  });
  return { partner, seen, settle: <T>(call: PromiseLike<T>) => settle(manual, call) };
}

const slowly = { baseDelay: 20_000, maxDelay: 20_000 };

const waits: Record<string, Setting> = {
  "a 429 with Retry-After": { onCreate: (nth) => (nth === 1 ? limited({ "retry-after": "4" }) : undefined) },
  "a 429 without Retry-After": { options: { retry: slowly }, onCreate: (nth) => (nth === 1 ? limited() : undefined) },
  "a 429 in a client that does not pace itself": {
    options: { pacing: false },
    onCreate: (nth) => (nth === 1 ? limited({ "retry-after": "4" }) : undefined),
  },
  "two 429s": { onCreate: (nth) => (nth <= 2 ? limited({ "retry-after": "4" }) : undefined) },
  "a connection that was refused": {
    options: { retry: slowly },
    onCreate: (nth) => (nth === 1 ? "refused" : undefined),
  },
  "a token of a bucket of ten": { bucket: { quota: 10, interval: 6_000 } },
  "a token of a bucket of two": { bucket: { quota: 2, interval: 6_000 } },
  "a slot of its own ceiling": { options: { pacing: { perSecond: 0.2, burst: 2 } } },
  "a process that was suspended after the look-up was answered": {
    onLookUp: (nth, suspend) => nth === 1 && suspend(5_000),
  },
  "a process that was suspended after two look-ups, with slots for two at a time": {
    options: { pacing: { perSecond: 0.2, burst: 2 } },
    onLookUp: (nth, suspend) => nth <= 2 && suspend(1_500),
  },
  "a hook that takes long": { onRequest: (nth, suspend) => nth === 1 && suspend(5_000) },
  "a hook that takes long each time": { onRequest: (_, suspend) => suspend(1_500) },
};

/** Uses the tokens and slots that the creation would need. */
const use = (partner: PodPartner, count: number) =>
  Promise.all(Array.from({ length: count }, () => partner.auth.validate()));

describe.each(Object.entries(waits))("an order that waits for %s", (_, setting) => {
  it("is placed on a look-up that is at most a second old", async () => {
    const { partner, seen, settle } = setUp(setting);
    const busy = use(partner, setting.bucket?.quota ?? 2);
    const order = { ...combinedOrder, customIdentifier: "one" };
    const [placed] = await settle(Promise.all([partner.orders.ensure(order, { compare: false }), busy]));
    expect(placed).toMatchObject({ existed: false });
    expect(seen.orders).toBe(1);
    expect(seen.oldest).toBeLessThanOrEqual(1_050);
    expect(seen.lookUps).toBeLessThanOrEqual(4);
    if (setting.bucket) expect(seen.refused).toBe(0);
  });
});

describe("an order that another process places", () => {
  it.each(["a 429 with Retry-After", "a connection that was refused", "two 429s"])(
    "during %s is found",
    async (name) => {
      const original = Math.random;
      Math.random = () => 0.5;
      try {
        const { partner, seen, settle } = setUp(waits[name] ?? {}, 1_500);
        const order = { ...combinedOrder, customIdentifier: "one" };
        const placed = await settle(partner.orders.ensure(order, { compare: false }));
        expect(placed).toMatchObject({ existed: true, recovered: false });
        expect(seen.orders).toBe(0);
      } finally {
        Math.random = original;
      }
    },
  );
});

describe("an order in a bucket of one token", () => {
  it("is placed with the first token after its look-up", async () => {
    const { partner, seen, settle } = setUp({ bucket: { quota: 1, interval: 6_000 } });
    await settle(partner.auth.validate());
    await settle(partner.orders.ensure({ ...combinedOrder, customIdentifier: "one" }, { compare: false }));
    expect(seen).toMatchObject({ orders: 1, refused: 0, creations: 1 });
    expect(seen.lookUps).toBeLessThanOrEqual(2);
    expect(seen.oldest).toBeLessThanOrEqual(7_050);
  });
});

describe.each([2_000, 6_000, 60_000])(
  "an order in a bucket of one token in %i ms that no response reports",
  (interval) => {
    it.each(["none", "memory"])(
      "is placed with the first token after its third look-up (storage: %s)",
      async (kind) => {
        const options = kind === "none" ? {} : { storage: memoryStorage() };
        const { partner, seen, settle } = setUp({ options, bucket: { quota: 1, interval, silent: true } });
        await settle(partner.orders.ensure({ ...combinedOrder, customIdentifier: "one" }, { compare: false }));
        expect(seen).toMatchObject({ orders: 1, refused: 3, lookUps: 3 });
        expect(seen.oldest).toBeLessThanOrEqual(1_050 + interval);
        await settle(partner.orders.ensure({ ...combinedOrder, customIdentifier: "two" }, { compare: false }));
        expect(seen.orders).toBe(2);
      },
    );
  },
);

describe.each([
  { perSecond: 0.2, burst: 1, each: 2.6 },
  { perSecond: 1, burst: 1, each: 2.6 },
  { perSecond: 1, burst: 5, each: 3.1 },
  { perSecond: 5, burst: 5, each: 2.7 },
  { perSecond: 20, burst: 20, each: 2.3 },
])("many orders under a ceiling of $perSecond a second, $burst at a time", ({ perSecond, burst, each }) => {
  it("are placed right after their look-ups, beside other calls", async () => {
    const { partner, seen, settle } = setUp({ options: { pacing: { perSecond, burst } } });
    const numbers = Array.from({ length: 40 }, (_, index) => `many-${index}`);
    const place = (customIdentifier: string) =>
      partner.orders.ensure({ ...combinedOrder, customIdentifier }, { compare: false });
    const others = use(partner, 10);
    await settle(Promise.all([...numbers.map(place), others]));
    expect(seen.orders).toBe(numbers.length);
    // Where one request may be sent at a time, it is the next one.
    expect(seen.oldest).toBeLessThanOrEqual(1_050 + (burst === 1 ? 1_000 / perSecond : 0));
    expect((seen.lookUps + seen.creations) / numbers.length).toBeLessThanOrEqual(each);
  });

  it("that exist cost one request each, and little more time", async () => {
    const { partner, seen, settle } = setUp({ options: { pacing: { perSecond, burst } } }, 0);
    const numbers = Array.from({ length: 40 }, (_, index) => `many-${index}`);
    const place = (customIdentifier: string) =>
      partner.orders.ensure({ ...combinedOrder, customIdentifier }, { compare: false });
    await settle(Promise.all(numbers.map(place)));
    expect(seen).toMatchObject({ orders: 0, creations: 0, lookUps: numbers.length });
    expect(seen.now()).toBeLessThanOrEqual(((1.3 * numbers.length + burst) / perSecond) * 1_000);
  });
});

describe("many orders in a small bucket", () => {
  it("need about two requests each, and no 429", async () => {
    const { partner, seen, settle } = setUp({ bucket: { quota: 30, interval: 200 } });
    const numbers = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    const place = (customIdentifier: string) =>
      partner.orders.ensure({ ...combinedOrder, customIdentifier }, { compare: false }).catch(() => undefined);
    await settle(Promise.all(numbers.map(place)));
    expect(seen.refused).toBe(0);
    expect(seen.lookUps + seen.creations).toBeLessThanOrEqual(2.3 * numbers.length);
  });
});
