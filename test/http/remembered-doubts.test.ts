import type { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { setUp } from "../support/setup.ts";
import { orderOf, subjects } from "./matrix/subjects.ts";

type Order = ReturnType<typeof orderOf>;

/** Another process has sent the order, and the service creates it after so many milliseconds. */
function withPendingOrder(ms: number) {
  const world = setUp();
  const { clock, emulator, connect } = world;
  emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms, when: "before" });
  const order = orderOf(emulator, "A");
  const killed = new AbortController();
  const sent = rejection(connect().orders.create(order, { signal: killed.signal }));
  const kill = async () => {
    await clock.advance(100);
    killed.abort("killed");
    await sent;
  };
  return { ...world, order, kill };
}

const inDoubt = ["claims.createItemIssues", "claims.retract", "orders.cancel"];

describe.each(subjects.filter(({ name }) => inDoubt.includes(name)))("$name in doubt after a deadline", (subject) => {
  it("is settled by a later call with the same content, and happens once", async () => {
    const { clock, emulator, partner, connect, settle } = setUp({}, { deadline: 3_000 });
    const { call, effects } = await settle(subject.prepare(connect({ deadline: 60_000 }), emulator));
    emulator.faults.add({ on: subject.on, nth: 1, fault: "slow", ms: 10_000, when: "before" });
    let endings = 0;
    for (let isSettled = false; !isSettled && endings < 30; endings++) {
      const ending = settle(call(partner).withResponse());
      isSettled = await ending.then(
        () => true,
        () => false,
      );
    }
    expect(endings).toBeGreaterThan(1);
    expect(endings).toBeLessThan(30);
    await clock.advance(60_000);
    expect(await settle(effects())).toBe(1);
  });
});

async function placeBy(method: "create" | "ensure" | "ensureMany", { orders }: PodPartner, order: Order) {
  if (method !== "ensureMany") return orders[method](order);
  for await (const outcome of orders.ensureMany([order])) if (outcome.ok) return outcome.value;
  return undefined;
}

describe("a `lookFor` that was not over", () => {
  it.each([
    { ending: "an abort", options: (stopped: AbortSignal) => ({ signal: stopped }) },
    { ending: "a signal that was aborted before", options: () => ({ signal: AbortSignal.abort("stopped") }) },
    { ending: "a deadline that is too short for it", options: () => ({ deadline: 5_000 }) },
  ])("is remembered after $ending, by ensure, ensureMany and create", async ({ options }) => {
    for (const method of ["ensure", "ensureMany", "create"] as const) {
      const { partner, order, kill, settle, orders, clock } = withPendingOrder(20_000);
      await kill();
      const stop = new AbortController();
      const first = rejection(partner.orders.ensure(order, { lookFor: 30_000, ...options(stop.signal) }));
      await clock.advance(1_500);
      stop.abort("stopped");
      await settle(first);
      expect(await settle(placeBy(method, partner, order))).toMatchObject({ existed: true });
      expect(await orders()).toBe(1);
    }
  });

  it("is remembered after a look-up that failed, and not shortened by a shorter one", async () => {
    const { emulator, partner, order, kill, settle, orders } = withPendingOrder(20_000);
    await kill();
    emulator.faults.add({
      on: "orders.lookup",
      nth: 1,
      fault: "status",
      status: 403,
      code: "forbidden",
      when: "before",
    });
    await settle(rejection(partner.orders.ensure(order, { lookFor: 30_000 })));
    expect(await settle(partner.orders.ensure(order, { lookFor: 10 }))).toMatchObject({ existed: true });
    expect(await orders()).toBe(1);
  });

  it("is over at its own time", async () => {
    const { clock, emulator, partner, settle, orders } = setUp();
    const order = orderOf(emulator, "A");
    await rejection(partner.orders.ensure(order, { lookFor: 30_000, signal: AbortSignal.abort("stopped") }));
    await clock.advance(30_000);
    const began = clock.now();
    expect(await settle(partner.orders.ensure(order))).toMatchObject({ existed: false });
    expect(clock.now() - began).toBeLessThan(3_000);
    expect(await orders()).toBe(1);
  });

  it.each(["create", "ensureMany"] as const)(
    "and ended early is looked up once when its time is over, also by %s",
    async (method) => {
      const { clock, partner, order, kill, settle, orders } = withPendingOrder(20_000);
      await kill();
      const stop = new AbortController();
      const first = rejection(partner.orders.ensure(order, { lookFor: 30_000, signal: stop.signal }));
      await clock.advance(1_500);
      stop.abort("stopped");
      await settle(first);
      await clock.advance(60_000);
      expect(await settle(placeBy(method, partner, order))).toMatchObject({ existed: true });
      expect(await orders()).toBe(1);
    },
  );
});
