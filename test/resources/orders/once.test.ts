import type { OrderReference } from "pod-partner";
import type { Fault } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import type { RepeatedIdentifier } from "../../../src/emulator/settings/options.ts";
import { orderOf } from "../../http/matrix/subjects.ts";
import { rejection } from "../../support/exchange.ts";
import { createFastClock } from "../../support/fast-clock.ts";
import { harsh } from "../../support/harsh.ts";
import { useService } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";
import { setUp } from "../../support/setup.ts";

const policies: readonly RepeatedIdentifier[] = ["create", "return-first", "refuse"];

/** Faults that each lose the response to a creation, one after the other. */
const losses: readonly (readonly [string, Omit<Fault, "on" | "nth">, number])[] = [
  ["the first, after it was carried out", { fault: "drop" }, 1],
  ["the first, before it was carried out", { fault: "drop", when: "before" } as Fault, 1],
  ["two, before they were carried out", { fault: "status", status: 503, when: "before" } as Fault, 2],
];

describe.each(policies)(
  "one order is created when the service responds to a repeated identifier with %s",
  (repeatedIdentifier) => {
    it.each(losses)("and the response to the creation is lost: %s", async (_, fault, times) => {
      const { emulator, partner, settle, orders } = setUp({ repeatedIdentifier });
      emulator.faults.add({ ...fault, on: "orders.create", nth: (n) => n <= times } as Fault);
      const { reference } = await settle(partner.orders.create(orderOf(emulator, "shop-1001")));
      expect(await settle(partner.orders.lookup({ customIdentifier: "shop-1001" }))).toBe(reference);
      expect(await orders()).toBe(1);
    });

    it("and the order is written late: after the client has timed out and not found it by look-ups", async () => {
      const { emulator, partner, settle, orders, posts } = setUp({ repeatedIdentifier }, { timeout: 1_000 });
      emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 4_400, when: "before" });
      const placed = await settle(partner.orders.create(orderOf(emulator, "shop-1001")));
      expect([placed.recovered, await orders(), posts()]).toEqual([true, 1, 1]);
    });

    it("and `ensure` is called twice at the same time, with the first response lost", async () => {
      const { emulator, partner, settle, orders } = setUp({ repeatedIdentifier });
      emulator.faults.add({ on: "orders.create", nth: 1, fault: "truncate" });
      const order = orderOf(emulator, "shop-1001");
      const both = await settle(Promise.all([partner.orders.ensure(order), partner.orders.ensure(order)]));
      expect(new Set(both.map(({ reference }) => reference)).size).toBe(1);
      expect(await orders()).toBe(1);
    });

    it("and `ensure` is called again after a restart, with the outcome of the first call unknown", async () => {
      const { emulator, connect, settle, orders } = setUp({ repeatedIdentifier });
      emulator.faults.add({ on: "orders.create", fault: "drop" });
      emulator.faults.add({ on: "orders.lookup", nth: (n) => n > 1, fault: "status", status: 503 });
      const order = orderOf(emulator, "shop-1001");
      const unknown = await settle(rejection(connect().orders.ensure(order)));
      expect(unknown).toMatchObject({ name: "OutcomeUnknownError", identifiers: { customIdentifier: "shop-1001" } });
      emulator.faults.clear();
      expect(await settle(connect().orders.ensure(order))).toMatchObject({ existed: true });
      expect(await orders()).toBe(1);
    });
  },
);

describe("an order that another process places between the look-up and the creation, and that is refused then", () => {
  const refuse = { repeatedIdentifier: "refuse" } as const;
  const unseen = { fault: "status", status: 404, code: "not_found", when: "before" } as const;

  it("is the result of `ensure`, also when look-ups show it late", async () => {
    const { emulator, partner, connect, settle, orders } = setUp(refuse);
    const order = orderOf(emulator, "shop-1001");
    const { reference } = await settle(connect().orders.create(order));
    emulator.faults.add({ on: "orders.lookup", nth: (n) => n <= 3, ...unseen });
    expect(await settle(partner.orders.ensure(order))).toMatchObject({ reference, existed: true });
    expect(await orders()).toBe(1);
  });

  it("is compared with the requested order", async () => {
    const { emulator, partner, connect, settle } = setUp(refuse);
    await settle(connect().orders.create(orderOf(emulator, "shop-1001")));
    emulator.faults.add({ on: "orders.lookup", nth: 1, ...unseen });
    const order = orderOf(emulator, "shop-1001");
    const other = { ...order, orderlines: order.orderlines.map((line) => ({ ...line, quantity: 99 })) };
    expect(await settle(rejection(partner.orders.ensure(other)))).toMatchObject({ name: "OrderMismatchError" });
  });

  it("is a conflict when no look-up shows it", async () => {
    const { emulator, partner, connect, settle } = setUp(refuse);
    await settle(connect().orders.create(orderOf(emulator, "shop-1001")));
    emulator.faults.add({ on: "orders.lookup", ...unseen });
    const ensured = rejection(partner.orders.ensure(orderOf(emulator, "shop-1001")));
    expect(await settle(ensured)).toMatchObject({ name: "ConflictError", code: "custom_identifier_taken" });
  });
});

describe("a lost creation that exists, and that four look-ups do not show", () => {
  it.each<[RepeatedIdentifier, number, boolean]>([
    ["return-first", 1, false],
    ["refuse", 1, true],
    // If a service creates a second order for the same identifier and hides the first for seconds, no client can avoid it.
    ["create", 2, false],
  ])("is settled by the service when it responds with %s", async (repeatedIdentifier, made, recovered) => {
    const { emulator, partner, settle, orders } = setUp({ repeatedIdentifier });
    const unseen = { fault: "status", status: 404, code: "not_found", when: "before" } as const;
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });
    emulator.faults.add({ on: "orders.lookup", nth: (n) => n <= 4, ...unseen });
    const placed = await settle(partner.orders.create(orderOf(emulator, "shop-1001")));
    expect([await orders(), placed.recovered]).toEqual([made, recovered]);
  });
});

describe("ensureMany", () => {
  it("places each order once when responses are lost, and reports the failed ones", async () => {
    const { emulator, partner, settle, orders } = setUp();
    emulator.faults.add({ on: "orders.create", nth: (n) => n % 3 === 0, fault: "drop" });
    emulator.faults.add({ on: "orders.create", nth: (n) => n % 7 === 0, fault: "status", status: 502, when: "before" });
    const inputs = Array.from({ length: 40 }, (_, number) => orderOf(emulator, `shop-${number}`));
    const [bad] = inputs;
    if (bad === undefined) throw new Error("There is no order");
    const broken = { ...bad, customIdentifier: "broken", orderlines: [] };

    const placed = new Map<string, OrderReference>();
    const failed: unknown[] = [];
    const consume = async () => {
      for await (const outcome of partner.orders.ensureMany([...inputs, broken])) {
        if (outcome.ok) placed.set(outcome.input.customIdentifier, outcome.value.reference);
        else failed.push([outcome.input.customIdentifier, outcome.error]);
      }
    };
    await settle(consume());

    expect(failed).toMatchObject([["broken", { name: "RequestValidationError" }]]);
    expect(placed.size).toBe(40);
    expect(new Set(placed.values()).size).toBe(40);
    expect(await orders()).toBe(40);
    for (const [customIdentifier, reference] of placed) {
      expect(await settle(partner.orders.lookup({ customIdentifier }))).toBe(reference);
    }
  });

  it("places nothing twice when it is run again after it was left in the middle", async () => {
    const { emulator, connect, settle, orders } = setUp();
    emulator.faults.add({ on: "orders.create", nth: (n) => n % 4 === 0, fault: "drop" });
    const inputs = Array.from({ length: 20 }, (_, number) => orderOf(emulator, `shop-${number}`));
    const leave = async (after: number) => {
      let seen = 0;
      for await (const _ of connect().orders.ensureMany(inputs)) if (++seen === after) break;
    };
    await settle(leave(7));
    await settle(leave(Number.POSITIVE_INFINITY));
    expect(await orders()).toBe(20);
  });
});

const neverShown = { on: "orders.lookup", fault: "status", status: 404, code: "not_found", when: "before" } as const;
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
    emulator.faults.add(neverShown);
    const order = orderOf(emulator, "A");
    const first = await settle(partner.orders.ensure(order));
    expect(await settle(partner.orders.ensure(order))).toEqual({ ...first, existed: true });
    expect(posts()).toBe(1);
  });

  it("is returned for as long as the service may take to show it", async () => {
    const { clock, emulator, partner, settle, posts } = setUp(harsh, { assumptions: { processingTime: 60_000 } });
    emulator.faults.add(neverShown);
    const order = orderOf(emulator, "A");
    const first = await settle(partner.orders.ensure(order));
    await clock.advance(50_000);
    expect(await settle(partner.orders.ensure(order))).toEqual({ ...first, existed: true });
    expect(posts()).toBe(1);
  });

  it("is not returned from memory forever, however often it is requested", async () => {
    const { clock, emulator, partner, settle, posts } = setUp(harsh);
    emulator.faults.add(neverShown);
    const order = orderOf(emulator, "A");
    for (let round = 0; round < 3; round++) {
      await settle(partner.orders.ensure(order));
      await clock.advance(20_000);
    }
    expect(posts()).toBe(2);
  });

  it("is placed when the look-up still does not show it after a long time", async () => {
    const { clock, emulator, partner, settle, posts } = setUp(harsh);
    emulator.faults.add(neverShown);
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
    context.connect({
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
