import type { OrderReference } from "pod-partner";
import type { Fault } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import type { RepeatedIdentifier } from "../../../src/emulator/settings/options.ts";
import { orderOf } from "../../http/matrix/subjects.ts";
import { rejection } from "../../support/exchange.ts";
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
