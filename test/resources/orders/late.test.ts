import { OutcomeUnknownError, type PodPartner } from "pod-partner";
import { createManualClock, type Emulator, type ManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { RecentOrders } from "../../../src/resources/orders/recent-orders.ts";
import { orderOf } from "../../http/matrix/subjects.ts";
import { rejection } from "../../support/exchange.ts";
import { createFastClock } from "../../support/fast-clock.ts";
import { harsh } from "../../support/harsh.ts";
import { useService } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";
import { settle } from "../../support/settle.ts";
import { setUp } from "../../support/setup.ts";
import type { StubResponse } from "../../support/stub-service.ts";

/** A gateway stops waiting for the first creation after `ms`; the service completes it after `processing`. */
const gateway = (ms: number, processing: number, status: number | "drop") =>
  ({ on: "orders.create", nth: 1, fault: "gateway", ms, processing, status }) as const;

describe("an order behind a gateway that times out before the service has finished", () => {
  it.each([
    [504, 20, 29_000],
    [504, 30_000, 58_000],
    [524, 1_000, 7_000],
    [502, 1_000, 7_000],
    [503, 1_000, 7_000],
    ["drop", 300, 29_000],
    ["drop", 25_000, 49_000],
  ] as const)("is created once: %s after %i ms, completed after %i ms", async (status, ms, processing) => {
    const { emulator, partner, settle, orders, posts } = setUp(harsh, { timeout: 60_000 });
    emulator.faults.add(gateway(ms, processing, status));
    const placed = await settle(partner.orders.create(orderOf(emulator, "A")));
    expect([placed.recovered, await orders(), posts()]).toEqual([true, 1, 1]);
  });

  it("is created once when the attempt's own timeout is much shorter than the service's time", async () => {
    const { emulator, partner, settle, orders, posts } = setUp(harsh, { timeout: 1_000 });
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 20_000, when: "before" });
    const placed = await settle(partner.orders.create(orderOf(emulator, "A")));
    expect([placed.recovered, await orders(), posts()]).toEqual([true, 1, 1]);
  });

  it("is looked up for as long as `assumptions.processingTime` says", async () => {
    const assumptions = { processingTime: 120_000 };
    const { emulator, partner, settle, orders, posts } = setUp(harsh, { assumptions });
    emulator.faults.add(gateway(1_000, 115_000, 504));
    const placed = await settle(partner.orders.create(orderOf(emulator, "A")));
    expect([placed.recovered, await orders(), posts()]).toEqual([true, 1, 1]);
  });

  it("is looked up for as long as `assumptions.lookupTime` says when the connection breaks at once", async () => {
    const clock = createManualClock();
    const late = { visibleAfter: { lookup: 8_000 } };
    const { emulator, partner, orders, posts } = setUp(
      { ...harsh, clock, assumptions: late },
      { clock, assumptions: { lookupTime: 9_000 } },
    );
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });
    const placed = await settle(clock, partner.orders.create(orderOf(emulator, "A")));
    expect([placed.recovered, await orders(), posts()]).toEqual([true, 1, 1]);
  });

  it("is found when some of the look-ups fail", async () => {
    const { emulator, partner, settle, orders, posts } = setUp(harsh);
    emulator.faults.add(gateway(1_000, 7_000, 504));
    emulator.faults.add({ on: "orders.lookup", nth: (n) => n <= 4, fault: "status", status: 502 });
    const placed = await settle(partner.orders.create(orderOf(emulator, "A")));
    expect([placed.recovered, await orders(), posts()]).toEqual([true, 1, 1]);
  });
});

describe("a deadline that is shorter than the timeout", () => {
  const place = (partner: PodPartner, emulator: Emulator, deadline: number) =>
    partner.orders.create(orderOf(emulator, "A"), { deadline });

  it("leaves time to look up an order whose response does not come", async () => {
    const { emulator, partner, settle, orders } = setUp(harsh);
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 60_000 });
    expect(await settle(place(partner, emulator, 10_000))).toMatchObject({ recovered: true });
    expect(await orders()).toBe(1);
  });

  it("leaves time for a last look-up while the service is still working", async () => {
    const { clock, emulator, partner, settle, orders, posts } = setUp(harsh);
    emulator.faults.add(gateway(1_000, 8_500, 504));
    const began = clock.now();
    expect(await settle(place(partner, emulator, 10_000))).toMatchObject({ recovered: true });
    expect(clock.now() - began).toBeLessThanOrEqual(10_000);
    expect([await orders(), posts()]).toEqual([1, 1]);
  });

  it("ends in time with an unknown outcome when the order does not exist yet", async () => {
    const { clock, emulator, partner, settle, posts } = setUp(harsh);
    emulator.faults.add(gateway(1_000, 20_000, 504));
    const began = clock.now();
    const error = await settle(rejection(place(partner, emulator, 10_000)));
    expect(error).toMatchObject({ name: "OutcomeUnknownError", isRetryable: false, cause: { name: "DeadlineError" } });
    expect(clock.now() - began).toBeLessThanOrEqual(10_000);
    expect(posts()).toBe(1);
  });
});

describe("OutcomeUnknownError.isRetryable", () => {
  it("is true for `ensure`, which looks up before it sends, and false for `create`", async () => {
    const { emulator, partner, settle } = setUp(harsh);
    emulator.faults.add({ fault: "drop", when: "before" });
    const order = orderOf(emulator, "A");
    expect(await settle(rejection(partner.orders.create(order)))).toMatchObject({ isRetryable: false });
    emulator.faults.clear();
    emulator.faults.add({ fault: "drop", when: "before", on: "orders.create" });
    expect(await settle(rejection(partner.orders.ensure(order)))).toMatchObject({
      name: "OutcomeUnknownError",
      isRetryable: true,
    });
  });
});

describe("a process that was killed while the service worked on its order", () => {
  it("has each of its orders looked up by `ensureMany`", async () => {
    const { clock, emulator, connect, settle, orders } = setUp(harsh);
    const consume = async () => {
      const outcomes = connect().orders.ensureMany([orderOf(emulator, "A"), orderOf(emulator, "B")], {
        lookFor: 5_000,
      });
      for await (const { ok } of outcomes) expect(ok).toBe(true);
    };
    const began = clock.now();
    await settle(consume());
    expect(clock.now() - began).toBeGreaterThanOrEqual(5_000);
    expect(await orders()).toBe(2);
  });

  it.each([[-1], [Number.NaN], ["soon"]])(
    "is not recovered with `lookFor: %s`, which is refused before a request is sent",
    async (lookFor) => {
      const { emulator, partner } = setUp(harsh);
      const error = await rejection(partner.orders.ensure(orderOf(emulator, "A"), { lookFor } as { lookFor: number }));
      expect(error).toMatchObject({ name: "RequestValidationError", issues: [{ path: ["lookFor"] }] });
      expect(emulator.requests).toHaveLength(0);
    },
  );
});

describe("a look-up that decides about a creation", () => {
  it("is retried when other calls have used up the client's retry budget", async () => {
    const { emulator, partner, settle } = setUp(harsh);
    const outage = emulator.faults.add({ fault: "status", status: 502 });
    const failing = Array.from({ length: 60 }, () => rejection(partner.organization.get()));
    await settle(Promise.all(failing));
    outage.remove();
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop", when: "before" });
    // The look-ups of the search find nothing; the first attempt of the last one fails.
    emulator.faults.add({ on: "orders.lookup", nth: 4, fault: "drop" });
    expect(await settle(partner.orders.create(orderOf(emulator, "A")))).toMatchObject({ recovered: false });
    const lookups = emulator.requests.filter(({ path }) => path.startsWith("/utilities/"));
    expect(lookups).toHaveLength(5);
  });
});

const errorObject = JSON.stringify({ code: "gateway_timeout", message: "The service took too long" });

interface GatewayResponse {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** A gateway that responds to the first order after one second, while the service completes it after seven. */
function gatewayInFront(emulator: Emulator, clock: ManualClock, { status, body = "", headers = {} }: GatewayResponse) {
  let orders = 0;
  return (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const first = request.method === "POST" && request.url.endsWith("/orders") && ++orders === 1;
    if (!first) return emulator.fetch(request);
    const carriedOut = new Request(request, { signal: null });
    clock.after(7_000, () => void emulator.fetch(carriedOut));
    return new Promise((resolve) => clock.after(1_000, () => resolve(new Response(body, { status, headers }))));
  };
}

describe("an order behind a gateway that times out after one second, when the service finishes after seven", () => {
  it.each<[string, GatewayResponse]>([
    ["504 with an error object", { status: 504, body: errorObject }],
    ["408 with an error object", { status: 408, body: errorObject }],
    ["503 with Retry-After", { status: 503, headers: { "retry-after": "1" } }],
    ["503 with Retry-After and HTML", { status: 503, body: "<html></html>", headers: { "retry-after": "1" } }],
  ])("is placed once: %s", async (_, response) => {
    const { clock, emulator, connect, settle, orders } = setUp(harsh);
    const partner = connect({ fetch: gatewayInFront(emulator, clock, response) });
    const placed = await settle(partner.orders.create(orderOf(emulator, "A")));
    expect([placed.recovered, await orders()]).toEqual([true, 1]);
  });
});

describe("an `ensure` while a `create` with the same identifier is in progress", () => {
  const slow = (emulator: Emulator) =>
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 3_000, when: "before" });
  const start = (partner: PodPartner, emulator: Emulator, signal?: AbortSignal) =>
    partner.orders.create({ ...orderOf(emulator, "A"), customIdentifier: "shop-1" }, { signal });

  it("finds the order that `create` places", async () => {
    const { clock, emulator, partner, settle, orders } = setUp(harsh);
    slow(emulator);
    const created = start(partner, emulator);
    await clock.advance(1_000);
    const ensured = partner.orders.ensure({ ...orderOf(emulator, "A"), customIdentifier: "shop-1" });
    const both = await settle(Promise.all([created, ensured]));
    expect(both.map(({ existed }) => existed)).toEqual([false, true]);
    expect(await orders()).toBe(1);
  });

  it("finds it when the `create` is aborted", async () => {
    const { clock, emulator, partner, settle, orders } = setUp(harsh);
    slow(emulator);
    const left = new AbortController();
    const created = rejection(start(partner, emulator, left.signal));
    await clock.advance(1_000);
    const ensured = partner.orders.ensure({ ...orderOf(emulator, "A"), customIdentifier: "shop-1" });
    left.abort();
    await created;
    expect(await settle(ensured)).toMatchObject({ existed: true });
    expect(await orders()).toBe(1);
  });
});

describe("`lookFor`", () => {
  it("continues after a look-up that fails, and finds an order that is completed late", async () => {
    const { emulator, partner, connect, clock, settle, orders } = setUp(harsh);
    emulator.faults.add({ on: "orders.lookup", nth: (n) => n === 2, fault: "status", status: 502 });
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 4_000, when: "before" });
    const order = orderOf(emulator, "A");
    const killed = new AbortController();
    const first = rejection(connect().orders.create(order, { signal: killed.signal }));
    await clock.advance(800);
    killed.abort();
    await first;
    expect(await settle(partner.orders.ensure(order, { lookFor: 10_000 }))).toMatchObject({ existed: true });
    expect(await orders()).toBe(1);
  });

  it("places no order when the deciding look-up fails", async () => {
    const { emulator, partner, settle, orders } = setUp(harsh);
    emulator.faults.add({ on: "orders.lookup", fault: "status", status: 502 });
    const error = await settle(rejection(partner.orders.ensure(orderOf(emulator, "A"), { lookFor: 5_000 })));
    expect(error).toMatchObject({ name: "ServerError", status: 502, isRetryable: true });
    expect(OutcomeUnknownError.isInstance(error)).toBe(false);
    emulator.faults.clear();
    expect(await orders()).toBe(0);
  });
});

describe("orders with an unknown outcome", () => {
  it("are all remembered when an outage leaves thousands of them", () => {
    const recent = new RecentOrders({ now: () => 0, after: () => () => undefined }, 30_000);
    const identifiers = Array.from({ length: 5_000 }, (_, index) => `shop-${index}`);
    for (const identifier of identifiers) recent.suspect(identifier, 30_000);
    expect(identifiers.filter((identifier) => recent.doubt(identifier) !== 30_000)).toEqual([]);
  });

  it("are no longer in doubt when the service has reported them, also if a later response is lost", () => {
    const recent = new RecentOrders({ now: () => 0, after: () => () => undefined }, 30_000);
    const found = { data: { reference: ref("Order") }, response: new Response() };
    recent.suspect("shop-1", 30_000);
    recent.record("shop-1", found);
    recent.suspect("shop-1", 30_000);
    expect([recent.doubt("shop-1"), recent.known("shop-1")]).toEqual([undefined, found]);
  });
});

describe("the timeline of an order whose response was lost", () => {
  it.each([
    ["before", ["lookup not found"]],
    ["after", ["lookup found"]],
  ] as const)("says what the look-ups found when it was lost %s the service processed it", async (when, outcomes) => {
    const { emulator, partner, settle } = setUp(harsh);
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop", when });
    const { timeline } = await settle(partner.orders.create(orderOf(emulator, "A")).withResponse());
    const looks = timeline.filter(({ step }) => step === "lookup").map(({ step, outcome }) => `${step} ${outcome}`);
    expect([...new Set(looks)]).toEqual(outcomes);
  });
});

describe("an order that a look-up shows before it can be read", () => {
  const unread = { on: "orders.get", fault: "status", status: 404, code: "not_found", when: "before" } as const;

  it("is compared when it can be read", async () => {
    const { emulator, partner, settle, posts } = setUp();
    const order = orderOf(emulator, "shop-1");
    const { reference } = await settle(partner.orders.ensure(order));
    emulator.faults.add({ ...unread, nth: (n) => n <= 3 });
    expect(await settle(partner.orders.ensure(order))).toMatchObject({ reference, existed: true });
    expect(posts()).toBe(1);
  });

  it("is an error when it can still not be read after the time that the service may take", async () => {
    const { clock, emulator, partner, settle } = setUp();
    const order = orderOf(emulator, "shop-1");
    await settle(partner.orders.ensure(order));
    emulator.faults.add(unread);
    const began = clock.now();
    expect(await settle(rejection(partner.orders.ensure(order)))).toMatchObject({ name: "NotFoundError" });
    expect(clock.now() - began).toBeGreaterThanOrEqual(30_000);
  });
});

describe("an order whose response was lost", () => {
  const order = {
    storeReference: ref("Store"),
    shippingKind: "combined" as const,
    customIdentifier: "shop-1",
    orderlines: [{ productReference: ref("Product"), quantity: 1 }],
  };
  const nowhere: StubResponse = { status: 404, body: { code: "not_found", message: "no such order" } };
  const there: StubResponse = { body: { orderReference: ref("Order") } };
  const context = useService();
  const connect = () =>
    context.connect({ retry: { retries: 2, baseDelay: 0 }, clock: createFastClock(400), timeout: 400 });
  const posts = () => context.service.requests.filter(({ method }) => method === "POST").length;

  it("is looked up once more after a long Retry-After, right before its retry", async () => {
    let looks = 0;
    context.service.respondAlways(({ method }) => {
      if (method === "POST") return { status: 503, headers: { "retry-after": "30" } };
      looks += 1;
      return looks <= 4 ? nowhere : there;
    });
    expect(await connect().orders.create(order)).toMatchObject({ reference: ref("Order"), recovered: true });
    expect([posts(), looks]).toEqual([1, 5]);
  });

  it("is retried after that when it still does not exist", async () => {
    let sent = 0;
    context.service.respondAlways(({ method }) => {
      if (method !== "POST") return nowhere;
      sent += 1;
      return sent === 1
        ? { status: 503, headers: { "retry-after": "30" } }
        : { status: 201, body: { order: { reference: ref("Order") } } };
    });
    expect(await connect().orders.create(order)).toMatchObject({ recovered: false });
    expect(sent).toBe(2);
  });

  it("is retried after a 408 when the call only reads", async () => {
    context.service.respond({ status: 408 }, there);
    expect(await connect().orders.lookup({ customIdentifier: "shop-1" })).toBe(ref("Order"));
  });

  it("is looked up with the call's own timeout, headers and retries", async () => {
    const clock = createManualClock();
    const lost = () => Promise.reject<StubResponse>(new Error("hang up"));
    const never = () => new Promise<StubResponse>(() => undefined);
    context.service.respondAlways(({ method }) => (method === "POST" ? lost() : never()));
    const partner = context.connect({ clock });
    const began = clock.now();
    const options = { timeout: 3_000, headers: { "x-trace": "7" }, retry: { retries: 0 } };
    const error = await settle(clock, rejection(partner.orders.create(order, options)), 10);
    expect(error).toMatchObject({ name: "OutcomeUnknownError" });
    expect(clock.now() - began).toBeLessThan(20_000);
    const traces = context.service.requests.map(({ method, headers }) => `${method} ${headers["x-trace"]}`);
    expect(new Set(traces)).toEqual(new Set(["POST 7", "GET 7"]));
  });
});
