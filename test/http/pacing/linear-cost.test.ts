import { createManualClock } from "pod-partner/testing";
import { describe, expect, it, vi } from "vitest";
import { CancelScope } from "../../../src/http/cancel-scope.ts";
import { InFlight, type SentRequest } from "../../../src/http/pacing/in-flight.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { type Permit, WaitQueue, WaitQueues } from "../../../src/http/pacing/queue.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { rejection } from "../../support/exchange.ts";
import { sequence } from "../../support/pacing/sequence.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";
import { partnerWith } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";

const get = endpointOf("orders.get");
const headers = (quota: number, remaining: number, window = 60) =>
  new Headers({
    "x-ratelimit-policy": `"default";q=${quota};w=${window}`,
    "x-ratelimit": `"default";r=${remaining};t=0`,
  });

/** Counts how often properties of objects are read. */
function readsOf() {
  let reads = 0;
  const watch = (object: object, names: readonly string[]) => {
    for (const name of names) {
      let value: unknown = Reflect.get(object, name);
      const get = () => {
        reads += 1;
        return value;
      };
      const set = (next: unknown) => {
        value = next;
      };
      Object.defineProperty(object, name, { get, set, enumerable: true });
    }
  };
  return { watch, count: () => reads };
}

describe("a response costs the same, however many requests are in flight", () => {
  const requests = 2_000;
  const random = sequence(3);
  const orders: Readonly<Record<string, (left: number) => number>> = {
    "in the order of sending": () => 0,
    "in the opposite order": (left) => left - 1,
    "in any order": (left) => Math.floor(random() * left),
  };
  const endings: Readonly<Record<string, (pacer: Pacer, permit: Permit, count: number) => unknown>> = {
    "are served": (pacer, permit) => pacer.observe(get, permit, headers(100_000, 90_000)),
    "show other clients": (pacer, permit, count) => pacer.observe(get, permit, headers(100_000, 90_000 - 9 * count)),
    "report other quotas": (pacer, permit, count) => pacer.observe(get, permit, headers(100_000 + (count % 2), 50_000)),
    "get a 503": (pacer, permit, count) =>
      pacer.observe(get, permit, count % 10 === 0 ? headers(100_000, 90_000) : new Headers(), {
        status: count % 10 === 0 ? 200 : 503,
      }),
    "are lost": (pacer, permit) => pacer.forget(permit),
    "are never sent": (pacer, permit) => pacer.forget(permit, true),
  };
  const cases = Object.keys(orders).flatMap((order) => Object.keys(endings).map((ending) => [ending, order] as const));

  it.each(cases)("when they %s %s", async (ending, order) => {
    const clock = createTimeline();
    const pacer = new Pacer(clock);
    pacer.observe(get, pacer.takeAnyway(get), headers(100_000, 90_000));
    const { watch, count } = readsOf();
    const permits: Permit[] = [];
    for (let sent = 0; sent < requests; sent += 1) {
      const permit = pacer.takeAnyway(get);
      for (const request of permit.tokens.values()) watch(request, Object.keys(request));
      watch(permit.gatewayRequest, ["sentAt", "refused"]);
      permits.push(permit);
      await clock.run(clock.now() + 0.1);
    }
    for (let ended = 0; ended < requests; ended += 1) {
      const [permit] = permits.splice(orders[order]?.(permits.length) ?? 0, 1);
      if (permit !== undefined) endings[ending]?.(pacer, permit, ended);
    }
    // Millions when each response goes through all requests in flight.
    expect(count()).toBeLessThan(60 * requests);
  });

  it("and what it learns of them is what a walk through all of them would find", () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const next = sequence(seed);
      const inFlight = new InFlight();
      const all: { readonly request: SentRequest; endedAt?: number; unsent?: boolean }[] = [];
      const present = () => all.filter(({ endedAt }) => endedAt === undefined);
      for (let step = 1; step <= 600; step += 1) {
        const going = present();
        if (next() < 0.55 || going.length === 0) {
          const request = inFlight.add({ sentAt: step, level: 0, sent: all.length + 1, ended: 0 });
          all.push({ request });
          continue;
        }
        const one = going[Math.floor(next() ** 2 * going.length)];
        if (one === undefined) continue;
        const until = step - Math.floor(next() * 60);
        const later = all.filter(({ request, unsent }) => request.sent > one.request.sent && !unsent);
        const expected = later.filter(({ request, endedAt }) => endedAt !== undefined || request.sentAt <= until);
        expect(inFlight.overtakers(one.request, until)).toBe(expected.length);
        one.endedAt = step;
        one.unsent = next() < 0.2;
        inFlight.remove(one.request, one.unsent ? "unsent" : "ended");
        expect(inFlight.size).toBe(present().length);
        expect(inFlight.oldest).toBe(present()[0]?.request);
      }
    }
  });
});

describe("a call that waits costs the same, however many wait before it", () => {
  it("when the next token is 17 s away: the queue is searched only for calls that do not wait so long", async () => {
    const clock = createTimeline();
    const pacer = new Pacer(clock);
    pacer.observe(get, pacer.takeAnyway(get), headers(5_000, 0, 86_400));
    const walks = vi.spyOn(WaitQueue.prototype, "calls");
    try {
      const ended: Promise<unknown>[] = [];
      for (let call = 0; call < 500; call += 1) {
        expect(pacer.tryAcquire(get)).toBeUndefined();
        const scope = new CancelScope(clock, undefined, undefined);
        const acquiring = { maxRetryAfter: 20_000 + call, report: () => undefined };
        ended.push(rejection(pacer.acquire(get, "normal", scope, acquiring)));
      }
      expect(walks).toHaveBeenCalledTimes(0);
      pacer.refuse(get, pacer.takeAnyway(get), headers(5_000, 0, 86_400), { ms: 20_249 });
      expect(walks).toHaveBeenCalledTimes(1);
      // Those that wait for less are rejected, the others stay.
      expect(await Promise.all(ended.slice(0, 249))).toHaveLength(249);
      expect(pacer.rateLimits().policies.default?.waiting).toBe(251);
    } finally {
      walks.mockRestore();
    }
  });

  it("when it was refused before, leaves the middle of the queue, or has another priority", () => {
    const queues = new WaitQueues();
    const queue = queues.of(["default"]);
    const { watch, count } = readsOf();
    const calls = 1_000;
    const nothing = () => undefined;
    const waiters = Array.from({ length: calls }, (_, index) => {
      const priority = (["high", "normal", "low"] as const)[index % 3] ?? "low";
      const again = index % 2 === 0;
      const waiter = queues.join(queue, {
        call: "a",
        priority,
        retried: again,
        urgent: index % 5 === 0,
        maxRetryAfter: 1,
        grant: nothing,
        reject: nothing,
      });
      watch(waiter, ["before", "behind", "place"]);
      queues.rank(waiter, "default");
      return waiter;
    });
    for (const waiter of waiters.slice(calls / 4, calls / 2)) queues.leave(waiter);
    const order = Array.from({ length: (3 * calls) / 4 }, () => queues.takeTurn([queue]));
    expect(count()).toBeLessThan(30 * calls);
    expect([queue.size, queue.ahead, queues.occupied]).toEqual([0, 0, false]);
    // Within a priority those that must be sent soon come first, the latest before the others; then the refused calls in the order of arrival.
    for (const priority of ["high", "normal", "low"]) {
      const places = order.filter((one) => one?.priority === priority).map((one) => one?.place ?? Number.NaN);
      expect(places).toEqual(places.toSorted((one, other) => one - other));
    }
  });

  it("when all calls have one signal: it gets one listener, and keeps none", async () => {
    const clock = createManualClock();
    const responses = { "x-ratelimit-policy": '"default";q=10;w=100', "x-ratelimit": '"default";r=0;t=10' };
    const fetch = async () => Response.json({ message: "ok" }, { headers: responses });
    const partner = partnerWith({ clock, fetch });
    await partner.auth.validate();
    const controller = new AbortController();
    const added = vi.spyOn(controller.signal, "addEventListener");
    const removed = vi.spyOn(controller.signal, "removeEventListener");
    const options = { signal: controller.signal };
    const calls = Array.from({ length: 300 }, (_, index) =>
      index % 3 > 0
        ? partner.auth.validate(options)
        : index % 2 > 0
          ? partner.orders.list(options).toArray()
          : partner.orders
              .getMany([ref("Order")], { signal: controller.signal })
              [Symbol.asyncIterator]()
              .next(),
    );
    const ended = Promise.allSettled(calls);
    await clock.advance(0);
    expect(added).toHaveBeenCalledTimes(1);
    expect(partner.rateLimits.policies.default?.waiting).toBe(300);
    controller.abort(new Error("enough"));
    await ended;
    expect(partner.rateLimits.policies.default?.waiting).toBe(0);
    expect(removed.mock.calls.length).toBeLessThanOrEqual(1);
    expect(clock.pending).toBe(0);
  });
});
