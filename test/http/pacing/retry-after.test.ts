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
  const bodies: Readonly<Record<string, (clock: ManualClock, body?: unknown) => ReadableStream<Uint8Array> | string>> =
    {
      "at once": () => JSON.stringify(limited),
      "2 seconds later": (clock, body = limited) =>
        new ReadableStream({
          start: async (controller) => {
            await new Promise<void>((resolve) => clock.after(2_000, resolve));
            controller.enqueue(new TextEncoder().encode(JSON.stringify(body)));
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

  it("with levels that are not empty and another code is not about the rate limit, and holds nothing", async () => {
    const { clock, partner, requests } = connect(({ number }) =>
      number === 2 ? refuse(many, { code: "too_many_requests", message: "no" }) : undefined,
    );
    await settle(clock, partner.auth.validate(), 5);
    const refused = partner.auth.validate({ retry: false }).catch((error: unknown) => error);
    await settle(clock, refused, 5);
    await settle(clock, partner.auth.validate(), 5);
    expect(Math.max(...afterwards(requests, 2))).toBeLessThan(100);
  });

  it("for the rendertokens of a week holds nothing: the calls that wait for its body go on with it", async () => {
    const pauses: number[] = [];
    const hooks = { onPause: ({ length }: { readonly length: number }) => pauses.push(length) };
    const respond: Parameters<typeof connect>[0] = async ({ method, url }, clock) => {
      if (method !== "POST" || !url.pathname.includes("renders")) return undefined;
      const body = bodies["2 seconds later"]?.(clock, { code: "rendertoken_limit_exceeded", message: "none left" });
      return new Response(body, { status: 429, headers: { "retry-after": "500000", ...many } });
    };
    const { clock, partner, requests } = connect(respond, { hooks });
    await settle(clock, partner.auth.validate(), 5);
    const input = { compositionReference: ref("Composition"), imageReference: ref("Image") };
    const refused = partner.renders.create(input).catch((error: unknown) => error);
    await clock.advance(100);
    const began = clock.now();
    await settle(clock, Promise.all([validate(partner), validate(partner)]), 20);
    expect(clock.now() - began).toBeLessThan(2_100);
    expect(await refused).toMatchObject({ name: "RendertokenLimitError" });
    expect(requests).toHaveLength(4);
    expect(pauses).toHaveLength(2);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(120_000);
  });

  it.each([
    ["and a full bucket holds nothing", many, 0],
    ["and no level holds all calls for two minutes, not for the week that it may be about", {}, 120_000],
  ])("whose body is lost, with a Retry-After of days, %s", async (_, headers, ms) => {
    const { clock, partner, requests } = connect(({ number }, clock) =>
      number === 2
        ? new Response(bodies["not in full"]?.(clock), {
            status: 429,
            headers: { "retry-after": "500000", ...headers },
          })
        : undefined,
    );
    await settle(clock, partner.auth.validate(), 5);
    await settle(
      clock,
      partner.auth.validate({ retry: false }).catch((error: unknown) => error),
      5,
    );
    await settle(clock, partner.auth.validate({ retry: { maxRetryAfter: 200_000 } }), 20);
    const [, refused, next] = requests.map(({ at }) => at);
    expect(Math.round(((next ?? Number.NaN) - (refused ?? 0)) / 1_000)).toBe(ms / 1_000);
  });

  it("shows in `rateLimits` that no call can be sent while its body arrives", async () => {
    const { clock, partner } = connect(({ number }, clock) =>
      number === 2
        ? new Response(bodies["2 seconds later"]?.(clock), { status: 429, headers: { "retry-after": "5", ...many } })
        : undefined,
    );
    await settle(clock, partner.auth.validate(), 5);
    const refused = validate(partner);
    await clock.advance(1_000);
    const { policies, estimate } = partner.rateLimits;
    expect(policies.default?.remaining).toBe(0);
    expect(policies.default?.nextTokenIn).toBeGreaterThan(3_900);
    expect(estimate(1)).toBeGreaterThan(3_900);
    await settle(clock, refused);
  });

  it.each([
    [5, 1],
    [1, 5],
  ])("and a second one, whose bodies do not come, hold all calls for the longer of %i and %i s", async (one, other) => {
    const { clock, partner, requests } = connect(({ number }, clock) => {
      if (number !== 2 && number !== 3) return undefined;
      const headers = { "retry-after": String(number === 2 ? one : other), ...many };
      return new Response(bodies.never?.(clock), { status: 429, headers });
    });
    await settle(clock, partner.auth.validate(), 5);
    const calls = [validate(partner), validate(partner)];
    await clock.advance(100);
    calls.push(validate(partner));
    await clock.advance(10_000);
    expect(Math.min(...afterwards(requests, 3))).toBeGreaterThanOrEqual(5_000);
    await settle(clock, Promise.all(calls));
  });

  it("with a Retry-After of 0 is repeated after a backoff, which grows", async () => {
    const { clock, partner, requests } = connect(({ number }) =>
      number < 4 ? Response.json(limited, { status: 429, headers: { "retry-after": "0", ...many } }) : undefined,
    );
    await settle(clock, partner.auth.validate({ retry: { baseDelay: 1_000 } }), 10);
    const gaps = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
    expect(gaps.map((gap, index) => gap >= 500 * 2 ** index)).toEqual([true, true, true]);
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
    [0.5, 1, "at once"],
    [1, 1, "at once"],
    [2, 2, "at once"],
    [1, 1, "2 seconds later"],
  ])(
    "holds the call whose turn it is under a ceiling of %s a second with a burst of %i, if its body comes %s",
    async (perSecond, burst, when) => {
      const { clock, partner, requests } = connect(
        ({ number }, clock) =>
          number === 3
            ? new Response(bodies[when]?.(clock), {
                status: 429,
                headers: { "retry-after": "5", ...levels({ default: 0 }) },
              })
            : undefined,
        { pacing: { perSecond, burst } },
      );
      await settle(clock, Promise.all(Array.from({ length: 8 }, () => partner.auth.validate())), 20);
      const sentWithIt = requests.filter(({ at }) => at === requests[2]?.at).length - 1;
      expect(sentWithIt).toBeLessThan(burst);
      expect(Math.min(...afterwards(requests, 3))).toBeGreaterThanOrEqual(5_000);
    },
  );

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

const order = {
  storeReference: ref("Store"),
  shippingKind: "combined" as const,
  customIdentifier: "shop-1",
  orderlines: [{ productReference: ref("Product"), quantity: 1 }],
};

describe("a creation whose tokens are older than another call's 429", () => {
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

describe("an order that was refused with a 429", () => {
  const never = (clock: ManualClock) =>
    new ReadableStream({ start: () => new Promise<void>((resolve) => clock.after(1e9, resolve)) });

  it.each([
    ["without a storage", () => ({})],
    ["with a storage", (clock: ManualClock) => ({ storage: memoryStorage({ clock }) })],
  ])("%s is not in doubt when its call ends before the body comes", async (_, options) => {
    const { clock, partner, requests } = connect(
      ({ number }, clock) =>
        number === 2
          ? new Response(never(clock), { status: 429, headers: { "retry-after": "1", ...many } })
          : undefined,
      options,
    );
    await settle(clock, partner.auth.validate(), 5);
    const abort = new AbortController();
    const ended = partner.orders.create(order, { signal: abort.signal }).catch((error: unknown) => error);
    await clock.advance(100);
    abort.abort();
    expect(await ended).toMatchObject({ name: "AbortError" });
    await settle(clock, partner.orders.create(order), 20);
    expect(requests.map(({ method }) => method)).toEqual(["POST", "POST", "POST"]);
  });

  it.each([
    ["without a storage", () => ({})],
    ["with a storage", (clock: ManualClock) => ({ storage: memoryStorage({ clock }) })],
  ])("%s checks a Retry-After of a day after two minutes", async (_, options) => {
    const { clock, partner } = connect(
      ({ number }) =>
        number === 2
          ? Response.json(limited, { status: 429, headers: { "retry-after": "86400", ...levels({ default: 0 }) } })
          : undefined,
      options,
    );
    await settle(clock, partner.auth.validate(), 5);
    const place = (number: number) =>
      partner.orders.create({ ...order, customIdentifier: `shop-${number}` }).catch((error: unknown) => error);
    expect(await settle(clock, place(1), 20)).toMatchObject({ name: "RateLimitError" });
    await clock.advance(130_000);
    expect(await settle(clock, place(2), 20)).toMatchObject({ reference: ref("Order") });
    expect(await settle(clock, place(3), 20)).toMatchObject({ reference: ref("Order") });
  });
});

describe("a creation of a client without pacing", () => {
  it("is sent in the Retry-After of another call", async () => {
    const { clock, partner, requests } = connect(
      ({ number }) => (number === 1 ? refuse() : undefined),
      (clock) => ({ pacing: false, storage: memoryStorage({ clock }) }),
    );
    const refused = partner.auth.validate({ retry: false }).catch((error: unknown) => error);
    await settle(clock, refused, 5);
    await settle(clock, partner.orders.ensure(order, { lookFirst: false }), 5);
    expect(requests.map(({ method }) => method)).toEqual(["POST", "POST"]);
    expect(Math.max(...afterwards(requests, 1))).toBeLessThan(1_000);
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
