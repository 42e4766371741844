import type { PodPartner } from "pod-partner";
import type { Emulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { orderOf } from "../../http/matrix/subjects.ts";
import { rejection } from "../../support/exchange.ts";
import { harsh } from "../../support/harsh.ts";
import { setUp } from "../../support/setup.ts";

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
  it("causes one order when the next process looks it up for as long as the service may take", async () => {
    const { clock, emulator, partner, connect, settle, orders, posts } = setUp(harsh);
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 3_000, when: "before" });
    const order = orderOf(emulator, "A");
    const killed = new AbortController();
    const first = rejection(partner.orders.ensure(order, { signal: killed.signal }));
    await clock.advance(800);
    killed.abort();
    await first;
    const placed = await settle(connect().orders.ensure(order, { lookFor: 30_000 }));
    expect([placed.existed, await orders(), posts()]).toEqual([true, 1, 1]);
  });

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
