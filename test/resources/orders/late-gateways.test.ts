import { OutcomeUnknownError, type PodPartner } from "pod-partner";
import type { Emulator, ManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { RecentOrders } from "../../../src/resources/orders/recent-orders.ts";
import { orderOf } from "../../http/matrix/subjects.ts";
import { rejection } from "../../support/exchange.ts";
import { harsh } from "../../support/harsh.ts";
import { ref } from "../../support/references.ts";
import { setUp } from "../../support/setup.ts";

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
