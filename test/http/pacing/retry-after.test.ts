import { type KeyValueStorage, memoryStorage, type PodPartner, type PodPartnerOptions } from "pod-partner";
import { createManualClock, type ManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { partnerWith } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";
import { settle } from "../../support/settle.ts";

/** The headers of a response, by each policy's remaining tokens. */
const levels = (policies: Readonly<Record<string, number>>) => ({
  "x-ratelimit-policy": Object.keys(policies)
    .map((name) => `"${name}";q=3000;w=60`)
    .join(", "),
  "x-ratelimit": Object.entries(policies)
    .map(([name, remaining]) => `"${name}";r=${remaining};t=${remaining > 0 ? 0 : 5}`)
    .join(", "),
});
const many = levels({ default: 2_500 });
const limited = { code: "rate_limited", message: "Wait." };

/** A 429 with a `Retry-After` of 5 seconds. */
const refuse = (headers: Readonly<Record<string, string>> = levels({ default: 0 }), body: unknown = limited) =>
  Response.json(body, { status: 429, headers: { "retry-after": "5", ...headers } });

const bodyFor = ({ pathname }: URL, method: string): unknown => {
  if (method === "POST") return { order: { reference: ref("Order") } };
  if (pathname.includes("shipments")) return { shipment: { reference: pathname.split("/").at(-1), orders: [] } };
  return { message: "ok" };
};

interface Request {
  readonly at: number;
  /** From 1. */
  readonly number: number;
  readonly method: string;
  readonly url: URL;
}

/** A service that a client reaches in 5 ms, and that takes `took` for a response; undefined as the response stands for a success. */
function connect(
  respond: (request: Request, clock: ManualClock) => Response | undefined | Promise<Response | undefined>,
  options: PodPartnerOptions | ((clock: ManualClock) => PodPartnerOptions) = {},
) {
  const clock = createManualClock();
  const requests: Request[] = [];
  const fetch = async (input: string | URL | globalThis.Request, init?: RequestInit) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const method = (input instanceof Request ? input.method : init?.method) ?? "GET";
    const request = { at: clock.now(), number: requests.length + 1, method, url };
    requests.push(request);
    await new Promise<void>((resolve) => clock.after(10, resolve));
    return (await respond(request, clock)) ?? Response.json(bodyFor(url, method), { headers: many });
  };
  const partner = partnerWith({ fetch, clock, ...(typeof options === "function" ? options(clock) : options) });
  return { clock, partner, requests };
}

/** A call that may fail. */
const validate = (partner: PodPartner) => partner.auth.validate().catch((error: unknown) => error);

/** Milliseconds from each request to the one with this number, of those that came after it had its response. */
const afterwards = (requests: readonly Request[], number: number) => {
  const refusedAt = requests[number - 1]?.at ?? Number.NaN;
  return requests.map(({ at }) => at - refusedAt).filter((ms) => ms > 10);
};

describe("a 429 for the first request of a client", () => {
  it.each([
    ["no level", {}],
    ["the size of its bucket", { "x-ratelimit-policy": '"default";q=3000;w=60' }],
    ["an empty bucket", levels({ default: 0 })],
    ["a level that is not empty", many],
    ["another policy only", levels({ other: 3 })],
  ])("with %s: the calls that wait for its response wait for Retry-After, too", async (_, headers) => {
    const { clock, partner, requests } = connect(({ number }) => (number === 1 ? refuse(headers) : undefined));
    await settle(clock, Promise.all(Array.from({ length: 50 }, () => partner.auth.validate())), 5);
    expect(Math.min(...afterwards(requests, 1))).toBeGreaterThanOrEqual(5_000);
    expect(requests).toHaveLength(51);
  });
});

describe("a 429 in the course of calls", () => {
  const bodies: Readonly<Record<string, (clock: ManualClock) => ReadableStream<Uint8Array> | string>> = {
    "at once": () => JSON.stringify(limited),
    "2 seconds later": (clock) =>
      new ReadableStream({
        start: async (controller) => {
          await new Promise<void>((resolve) => clock.after(2_000, resolve));
          controller.enqueue(new TextEncoder().encode(JSON.stringify(limited)));
          controller.close();
        },
      }),
    never: () => new ReadableStream({ start: () => new Promise<void>(() => undefined) }),
    "not in full": () => new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) }),
    "in more bytes than are read": () => "x".repeat(2_000),
  };

  it.each(Object.keys(bodies))("whose body comes %s holds all calls until its Retry-After", async (when) => {
    const { clock, partner, requests } = connect(
      ({ number }, clock) => {
        if (number !== 3) return undefined;
        const headers = { "retry-after": "5", "content-type": "application/json", ...levels({ default: 0 }) };
        return new Response(bodies[when]?.(clock), { status: 429, headers });
      },
      { timeout: 3_000, maxResponseSize: 1_000 },
    );
    const calls: Promise<unknown>[] = [];
    for (let call = 0; call < 300; call += 1) {
      calls.push(partner.auth.validate());
      await clock.advance(20);
    }
    // All succeed, also the refused one: a 429 did nothing, whatever becomes of its body.
    await settle(clock, Promise.all(calls), 20);
    expect(Math.min(...afterwards(requests, 3))).toBeGreaterThanOrEqual(5_000);
    expect(requests).toHaveLength(301);
  });

  it("whose body never comes holds them also when its own call ends first", async () => {
    const { clock, partner, requests } = connect(({ number }, clock) =>
      number === 2 ? new Response(bodies.never?.(clock), { status: 429, headers: { "retry-after": "5" } }) : undefined,
    );
    await settle(clock, partner.auth.validate(), 5);
    const ended = partner.auth.validate({ deadline: 1_000 }).catch((error: unknown) => error);
    await clock.advance(1_500);
    expect(await ended).toMatchObject({ name: "DeadlineError" });
    await settle(clock, partner.auth.validate(), 20);
    expect(Math.min(...afterwards(requests, 2))).toBeGreaterThanOrEqual(5_000);
  });

  it.each([
    ["without rate-limit headers", {}, "too_many_requests"],
    ["without rate-limit headers, as HTML", {}, undefined],
    ["of an empty policy", levels({ default: 0 }), "too_many_requests"],
  ])("%s holds its policies, whatever its code", async (_, headers, code) => {
    const { clock, partner, requests } = connect(({ number }) =>
      number === 2 ? refuse(headers, code === undefined ? "<h1>Slow down</h1>" : { code, message: "no" }) : undefined,
    );
    await settle(clock, partner.auth.validate(), 5);
    const calls = Array.from({ length: 20 }, async (_, call) => {
      await new Promise<void>((resolve) => clock.after(20 + 20 * call, resolve));
      return validate(partner);
    });
    await settle(clock, Promise.all([validate(partner), ...calls]), 20);
    expect(Math.min(...afterwards(requests, 2))).toBeGreaterThanOrEqual(5_000);
  });

  it("holds its policy also when another route's response first names that policy", async () => {
    const both = (reads: number) => levels({ default: 2_500, reads });
    const { clock, partner, requests } = connect(async ({ number, url }, clock) => {
      if (!url.pathname.includes("shipments"))
        return number === 3 ? refuse(both(0)) : Response.json({ message: "ok" }, { headers: both(50) });
      await new Promise<void>((resolve) => clock.after(500, resolve));
      return Response.json(bodyFor(url, "GET"), { headers: both(0) });
    });
    await settle(clock, partner.auth.validate(), 5);
    const other = partner.shipments.get(ref("Shipment"));
    await clock.advance(5);
    const calls = [validate(partner)];
    await clock.advance(50);
    for (let call = 0; call < 20; call += 1) calls.push(validate(partner));
    await settle(clock, Promise.all([other, ...calls]), 5);
    expect(requests.filter(({ url }) => url.pathname.includes("shipments"))).toHaveLength(1);
    expect(Math.min(...afterwards(requests, 3))).toBeGreaterThanOrEqual(5_000);
  });

  it.each([
    [0.5, 1],
    [1, 1],
    [2, 2],
  ])("holds the call whose turn it is under a ceiling of %s a second with a burst of %i", async (perSecond, burst) => {
    const { clock, partner, requests } = connect(({ number }) => (number === 3 ? refuse() : undefined), {
      pacing: { perSecond, burst },
    });
    await settle(clock, Promise.all(Array.from({ length: 8 }, () => partner.auth.validate())), 20);
    const sentWithIt = requests.filter(({ at }) => at === requests[2]?.at).length - 1;
    expect(sentWithIt).toBeLessThan(burst);
    expect(Math.min(...afterwards(requests, 3))).toBeGreaterThanOrEqual(5_000);
  });

  it("does not let reads wait for uploads, which every response names, when `default` explains it", async () => {
    const names = (remaining: number) => ({
      "x-ratelimit-policy": '"default";q=300;w=6, "uploads";q=5000;w=86400',
      "x-ratelimit": `"default";r=${remaining};t=${remaining > 0 ? 0 : 1}, "uploads";r=0;t=17`,
    });
    const { clock, partner } = connect(({ number }) =>
      number === 5
        ? Response.json(limited, { status: 429, headers: { "retry-after": "1", ...names(0) } })
        : Response.json({ message: "ok" }, { headers: names(200) }),
    );
    for (let call = 0; call < 4; call += 1) await settle(clock, partner.auth.validate(), 5);
    const began = clock.now();
    await settle(clock, Promise.all(Array.from({ length: 10 }, () => partner.auth.validate())), 5);
    expect(clock.now() - began).toBeLessThan(4_000);
  });
});

describe("a creation whose tokens are older than another call's 429", () => {
  const order = {
    storeReference: ref("Store"),
    shippingKind: "combined" as const,
    customIdentifier: "shop-1",
    orderlines: [{ productReference: ref("Product"), quantity: 1 }],
  };
  const slowWrites = (clock: ManualClock): KeyValueStorage => {
    const storage = memoryStorage({ clock });
    const set: KeyValueStorage["set"] = async (key, value, options) => {
      await new Promise<void>((resolve) => clock.after(700, resolve));
      return storage.set(key, value, options);
    };
    return {
      kind: "slow",
      get: (key) => storage.get(key),
      set,
      delete: (key, options) => storage.delete(key, options),
      keys: (prefix) => storage.keys(prefix),
    };
  };

  it.each([
    ["its look-up", 1_000, () => ({ pacing: { perSecond: 2, burst: 2 } })],
    ["its note in the storage", 2_300, (clock: ManualClock) => ({ storage: slowWrites(clock) })],
  ])("is not sent in its Retry-After, which began during %s", async (_, after, options) => {
    const { clock, partner, requests } = connect(async ({ url }, clock) => {
      if (url.pathname.includes("shipments")) return refuse();
      if (!url.pathname.includes("utilities")) return undefined;
      await new Promise<void>((resolve) => clock.after(1_500, resolve));
      return Response.json({ code: "not_found", message: "no" }, { status: 404, headers: many });
    }, options);
    await settle(clock, partner.auth.validate(), 5);
    const placed = partner.orders.ensure(order);
    await clock.advance(after);
    const other = partner.shipments.get(ref("Shipment"), { retry: false }).catch((error: unknown) => error);
    await settle(clock, Promise.all([placed, other]), 20);
    const [{ at: refusedAt } = { at: Number.NaN }] = requests.filter(({ url }) => url.pathname.includes("shipments"));
    const orders = requests.filter(({ url }) => url.pathname.endsWith("/orders"));
    expect(orders.map(({ at }) => at - refusedAt >= 5_000)).toEqual([true]);
  });
});

describe("a Retry-After that a call does not wait for", () => {
  it("is checked once in two minutes at most, however little the calls wait", async () => {
    const { clock, partner, requests } = connect(() =>
      Response.json(limited, { status: 429, headers: { "retry-after": "600", ...levels({ default: 0 }) } }),
    );
    for (let call = 0; call < 300; call += 1) {
      const failed = partner.auth.validate({ retry: { maxRetryAfter: 1_000 } }).catch((error: unknown) => error);
      expect(await settle(clock, failed, 100)).toMatchObject({ name: "RateLimitError" });
      await clock.advance(1_000);
    }
    expect(requests.length).toBeGreaterThan(1);
    expect(requests.length).toBeLessThanOrEqual(4);
  });
});

describe("a gateway that refuses every request for 9 seconds", () => {
  it.each([
    ["without rate-limit headers", {}],
    ["with the service's", levels({ default: 0 })],
  ])("%s gets one request after each Retry-After, from many calls", async (_, headers) => {
    let began: number | undefined;
    const { clock, partner, requests } = connect((_request, clock) => {
      began ??= clock.now();
      return clock.now() - began < 9_000 ? refuse(headers) : undefined;
    });
    await settle(clock, Promise.all(Array.from({ length: 200 }, () => partner.auth.validate())), 50);
    expect(requests.filter(({ at }) => at - (requests[0]?.at ?? 0) < 9_000).length).toBeLessThanOrEqual(2);
    expect(requests.length).toBeLessThanOrEqual(203);
  });
});
