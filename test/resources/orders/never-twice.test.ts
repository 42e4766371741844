import { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { orderOf } from "../../http/matrix/subjects.ts";
import { rejection } from "../../support/exchange.ts";
import { createFastClock } from "../../support/fast-clock.ts";
import { harsh } from "../../support/harsh.ts";
import { secretKey, useService } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";
import { setUp } from "../../support/setup.ts";

const unseen = { on: "orders.lookup", fault: "status", status: 404, code: "not_found", when: "before" } as const;
/** The service needs this many milliseconds. */
const slow = (ms: number) => ({ on: "orders.create", nth: 1, fault: "slow", ms, when: "before" }) as const;

describe("the order that is sent is the one at the time of the call", () => {
  it("with `ensure`, also when the caller changes the object meanwhile", async () => {
    const { emulator, partner, settle, orders } = setUp(harsh);
    const order = orderOf(emulator, "A");
    const placing = partner.orders.ensure(order);
    Object.assign(order, { customIdentifier: "B", orderlines: [] });
    expect(await settle(placing)).toMatchObject({ customIdentifier: "A" });
    expect(await settle(partner.orders.lookup({ customIdentifier: "A" }))).toMatch(/^Order_/);
    expect(await orders()).toBe(1);
  });

  it("with `ensureMany`, also when the source reuses the same object", async () => {
    const { emulator, partner, settle, orders } = setUp(harsh);
    function* rows() {
      const row = orderOf(emulator, "");
      for (let number = 1; number <= 6; number++) yield Object.assign(row, { customIdentifier: `row-${number}` });
    }
    const placed: string[] = [];
    const consume = async () => {
      for await (const outcome of partner.orders.ensureMany(rows())) {
        if (outcome.ok) placed.push(outcome.value.customIdentifier);
      }
    };
    await settle(consume());
    expect(placed.sort()).toEqual(["row-1", "row-2", "row-3", "row-4", "row-5", "row-6"]);
    expect(await orders()).toBe(6);
    expect(await settle(partner.orders.lookup({ customIdentifier: "row-1" }))).toMatch(/^Order_/);
  });
});

describe("an order whose call ended while the service was still working", () => {
  it.each(["the same call, while it waits in the queue", "a later call"])("is found by %s", async (which) => {
    const { clock, emulator, partner, settle, orders, posts } = setUp(harsh);
    emulator.faults.add(slow(2_000));
    const order = orderOf(emulator, "A");
    const leave = new AbortController();
    const first = rejection(partner.orders.ensure(order, { signal: leave.signal }));
    const second = which === "a later call" ? undefined : partner.orders.ensure(order);
    await clock.advance(500);
    leave.abort("enough");
    expect(await first).toBe("enough");
    expect(await settle(second ?? partner.orders.ensure(order))).toMatchObject({ existed: true });
    expect([await orders(), posts()]).toEqual([1, 1]);
  });

  it("is found by the `ensure` that the error recommends", async () => {
    const { emulator, partner, settle, orders, posts } = setUp(harsh);
    emulator.faults.add(slow(20_000));
    const order = orderOf(emulator, "A");
    expect(await settle(rejection(partner.orders.create(order, { deadline: 500 })))).toMatchObject({
      name: "OutcomeUnknownError",
    });
    expect(await settle(partner.orders.ensure(order))).toMatchObject({ existed: true });
    expect([await orders(), posts()]).toEqual([1, 1]);
  });

  it("is placed by the next call when the service did not create it", async () => {
    const { emulator, partner, settle, orders } = setUp(harsh);
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop", when: "before" });
    const order = orderOf(emulator, "A");
    await settle(rejection(partner.orders.create(order, { retry: { retries: 0 } })));
    expect(await settle(partner.orders.ensure(order))).toMatchObject({ recovered: false });
    expect(await orders()).toBe(1);
  });

  it("is looked up again after a 429, before it is retried", async () => {
    const { emulator, partner, settle, orders, posts } = setUp(harsh, {
      timeout: 1_000,
      assumptions: { processingTime: 1_000 },
    });
    emulator.faults.add(slow(6_000));
    const limited = { fault: "status", status: 429, code: "rate_limited", retryAfter: 5_000, when: "before" } as const;
    emulator.faults.add({ on: "orders.create", nth: 2, ...limited });
    const placed = await settle(partner.orders.create(orderOf(emulator, "A")));
    expect([placed.recovered, await orders(), posts()]).toEqual([true, 1, 2]);
  });
});

describe("an order that a response confirmed, and that a look-up does not show yet", () => {
  it("is returned by `ensure`, and not placed again", async () => {
    const { emulator, partner, settle, posts } = setUp(harsh);
    emulator.faults.add(unseen);
    const order = orderOf(emulator, "A");
    const first = await settle(partner.orders.ensure(order));
    expect(await settle(partner.orders.ensure(order))).toEqual({ ...first, existed: true });
    expect(posts()).toBe(1);
  });

  it("is returned for as long as the service may take to show it", async () => {
    const { clock, emulator, partner, settle, posts } = setUp(harsh, { assumptions: { processingTime: 60_000 } });
    emulator.faults.add(unseen);
    const order = orderOf(emulator, "A");
    const first = await settle(partner.orders.ensure(order));
    await clock.advance(50_000);
    expect(await settle(partner.orders.ensure(order))).toEqual({ ...first, existed: true });
    expect(posts()).toBe(1);
  });

  it("is not returned from memory forever, however often it is requested", async () => {
    const { clock, emulator, partner, settle, posts } = setUp(harsh);
    emulator.faults.add(unseen);
    const order = orderOf(emulator, "A");
    for (let round = 0; round < 3; round++) {
      await settle(partner.orders.ensure(order));
      await clock.advance(20_000);
    }
    expect(posts()).toBe(2);
  });

  it("is placed when the look-up still does not show it after a long time", async () => {
    const { clock, emulator, partner, settle, posts } = setUp(harsh);
    emulator.faults.add(unseen);
    const order = orderOf(emulator, "A");
    await settle(partner.orders.ensure(order));
    await clock.advance(31_000);
    expect(await settle(partner.orders.ensure(order))).toMatchObject({ recovered: false });
    expect(posts()).toBe(2);
  });
});

describe("an order that is refused as invalid after a lost response", () => {
  it("has a known outcome: the error has no identifiers, and the next call does not wait", async () => {
    const { clock, emulator, partner, settle, posts } = setUp(harsh);
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop", when: "before" });
    const refusal = { fault: "status", status: 409, code: "product_not_orderable", when: "before" } as const;
    emulator.faults.add({ on: "orders.create", nth: 2, ...refusal });
    const order = orderOf(emulator, "A");
    const error = await settle(rejection(partner.orders.create(order)));
    expect(error).toMatchObject({ code: "product_not_orderable", identifiers: undefined });
    const began = clock.now();
    expect(await settle(partner.orders.ensure(order))).toMatchObject({ recovered: false });
    expect(clock.now() - began).toBeLessThan(4_000);
    expect(posts()).toBe(3);
  });
});

describe("a list of orders", () => {
  it("continues after an order whose properties throw", async () => {
    const { emulator, partner, settle, orders } = setUp(harsh);
    const bad = Object.defineProperty(orderOf(emulator, "bad"), "orderlines", {
      enumerable: true,
      get: () => {
        throw new RangeError("the row is broken");
      },
    });
    async function* rows() {
      yield orderOf(emulator, "A");
      yield bad;
      yield orderOf(emulator, "B");
    }
    const outcomes: unknown[] = [];
    const consume = async () => {
      for await (const { ok } of partner.orders.ensureMany(rows())) outcomes.push(ok);
    };
    await settle(consume());
    expect(outcomes.sort()).toEqual([false, true, true]);
    expect(await orders()).toBe(2);
  });
});

describe("a look-up does not decide", () => {
  const context = useService();
  const order = {
    storeReference: ref("Store"),
    shippingKind: "combined" as const,
    customIdentifier: "A",
    orderlines: [{ productReference: ref("Product"), quantity: 1 }],
  };
  const posts = () => context.service.requests.filter(({ method }) => method === "POST").length;
  const connect = () =>
    new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      responses: "report",
      retry: { retries: 1, baseDelay: 0 },
      timeout: 5_000,
      clock: createFastClock(400, { kept: 5_000 }),
    });

  it.each([
    [{ order: {} }],
    [{ data: { reference: ref("Order") } }],
    [[]],
    ["no"],
    [{ orderReference: null, order: {} }],
  ])('with %j, also with `responses: "report"`', async (body) => {
    context.service.respondAlways({ body: JSON.stringify(body) });
    expect(await rejection(connect().orders.ensure(order))).toMatchObject({ name: "ResponseValidationError" });
    expect(posts()).toBe(0);
  });

  it.each([
    { error: { code: "404", message: "The page could not be found" } },
    { code: "NOT_FOUND", message: "no" },
    { code: "404_not_found", message: "no" },
    { code: "not found", message: "no" },
  ])("with a 404 that is not the service's: %j", async (body) => {
    context.service.respondAlways(({ method }) => (method === "POST" ? { status: 503 } : { status: 404, body }));
    expect(await rejection(connect().orders.create(order))).toMatchObject({ name: "OutcomeUnknownError" });
    expect(posts()).toBe(1);
  });

  it.each([[{}], [[]], [{ order: null }]])(
    "when the response to the order itself is %j: the error has its identifiers",
    async (body) => {
      context.service.respondAlways({ status: 201, body });
      const { customIdentifier: _, ...nameless } = order;
      const error = await rejection(connect().orders.create(nameless));
      const sent = JSON.parse(String(context.service.requests[0]?.body)).order.customIdentifier;
      expect(error).toMatchObject({ name: "ResponseValidationError", identifiers: { customIdentifier: sent } });
      expect(JSON.parse(JSON.stringify(error))).toMatchObject({ identifiers: { customIdentifier: sent } });
      expect(posts()).toBe(1);
    },
  );
});
