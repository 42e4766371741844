import { ConfigurationError, type KeyValueStorage } from "pod-partner";
import { describe, expect, it } from "vitest";
import { seal } from "../../../src/storage/scoped-storage.ts";
import { orderOf } from "../../http/matrix/subjects.ts";
import { rejection } from "../../support/exchange.ts";
import { share, shareClaim } from "./share.ts";

describe("a process that was suspended before its request", () => {
  it("does not delete the note of the process that took over, which `lookFirst: false` relies on", async () => {
    const { start, settle, emulator, clock, orders } = share();
    const order = orderOf(emulator, "shop-1001");
    const end = new AbortController();
    // It has noted the order, and wakes up before it has extended its lock.
    const first = start({ suspendAt: 8 });
    first.partner.orders.ensure(order, { signal: end.signal }).catch(() => undefined);
    await clock.advance(12_000);
    expect(first.seen.slice(6)).toEqual(["set order", "set order-lease", "set order done"]);
    // The second one sends the order, and is killed before the response.
    const second = start({ killAfter: "POST /v2/orders" });
    second.partner.orders.ensure(order).catch(() => undefined);
    await clock.advance(1_000);
    expect(second.requests().at(-1)).toBe("POST /v2/orders");
    first.resume();
    await clock.advance(50);
    end.abort();
    await clock.advance(60_000);
    expect(await settle(start().partner.orders.ensure(order, { lookFirst: false }))).toMatchObject({ existed: true });
    expect(await orders()).toBe(1);
  });
});

describe("what the storage knows of an order", () => {
  it("is not the content of a call that has found another one", async () => {
    const { start, settle, emulator, connect } = share();
    const order = orderOf(emulator, "shop-1001");
    await settle(connect().orders.create(order));
    const other = { ...order, orderlines: order.orderlines.map((line) => ({ ...line, quantity: 99 })) };
    for (let round = 0; round < 2; round += 1) {
      const error = await settle(rejection(start().partner.orders.ensure(other)));
      expect(error).toMatchObject({ name: "OrderMismatchError" });
    }
  });

  it("is the content that was placed, also after an earlier request with another one that never arrived", async () => {
    const { start, settle, emulator, clock, kill } = share();
    const order = orderOf(emulator, "shop-1001");
    const other = { ...order, orderlines: order.orderlines.map((line) => ({ ...line, quantity: 99 })) };
    const first = kill({ killAt: 10 }, ({ orders }) => orders.ensure(other));
    await clock.advance(50_000);
    expect(first.seen).toContain("set order done");
    await settle(start().partner.orders.ensure(order));
    const error = await settle(rejection(start().partner.orders.ensure(other)));
    expect(error).toMatchObject({ name: "OrderMismatchError" });
  });
});

describe("a call whose storage hangs", () => {
  it.each([
    ["after the order was placed", 1_450, false],
    ["after its response was lost", 60_000, "OutcomeUnknownError"],
  ])("ends by its deadline %s", async (_, ms, ending) => {
    const { start, settle, emulator, clock, lose, posts } = share();
    emulator.faults.add({ on: "orders.create", fault: "slow", ms, when: "before" });
    const began = clock.now();
    const ended = start()
      .partner.orders.ensure(orderOf(emulator, "shop-1001"), { deadline: 2_000 })
      .then(
        ({ existed }) => [existed, clock.now() - began <= 2_000],
        ({ name }) => [name, clock.now() - began <= 2_000],
      );
    while (posts() === 0) await clock.advance(10);
    lose("hangs");
    expect(await settle(ended)).toEqual([ending, true]);
  });

  it("ends with the error of the storage at its deadline, and not before", async () => {
    const { start, settle, emulator, clock, lose } = share();
    lose("fails");
    const began = clock.now();
    const ended = start()
      .partner.orders.ensure(orderOf(emulator, "shop-1001"), { deadline: 5_000 })
      .catch(({ name }) => [name, clock.now() - began]);
    expect(await settle(ended)).toEqual(["StorageError", 5_000]);
  });

  it("ends with the error of the storage at any deadline, also right after it was tried again", async () => {
    const { start, settle, emulator, lose } = share();
    lose("hangs");
    const deadlines = Array.from({ length: 40 }, (_, index) => 1_000 + 100 * index);
    const order = orderOf(emulator, "shop-1001");
    const endings = deadlines.map((deadline) => rejection(start().partner.orders.ensure(order, { deadline })));
    const names = (await settle(Promise.all(endings))).map((error) => (error as Error).name);
    expect(new Set(names)).toEqual(new Set(["StorageError"]));
  });

  it("does not end with an error by which nothing was sent when an earlier request is in doubt", async () => {
    const { start, settle, emulator, storage, posts } = share();
    emulator.faults.add({ on: "orders.create", fault: "drop", when: "before" });
    // After the first request it takes no note any more.
    const set: KeyValueStorage["set"] = async (key, value, options) =>
      (posts() === 0 || options?.ttl !== 34_000) && storage.set(key, value, options);
    const { partner } = start({ storage: { ...storage, set } });
    expect(await settle(rejection(partner.orders.ensure(orderOf(emulator, "shop-1001"))))).toMatchObject({
      name: "OutcomeUnknownError",
      identifiers: { customIdentifier: "shop-1001" },
    });
    expect(posts()).toBe(1);
  });
});

describe("a call that waits for another process", () => {
  it("ends with a `DeadlineError` while the storage is slow: it is not the reason", async () => {
    const { start, settle, emulator, clock, kill } = share();
    const order = orderOf(emulator, "shop-1001");
    kill({ killAt: 4 }, ({ orders }) => orders.ensure(order));
    await clock.advance(100);
    const { partner } = start({ slow: 20 });
    for (const deadline of [1_010, 1_030, 1_050, 1_070, 1_090])
      expect(await settle(rejection(partner.orders.ensure(order, { deadline })))).toMatchObject({
        name: "DeadlineError",
      });
  });
});

describe("a storage that takes 900 ms for each operation", () => {
  it("makes a call look up once more, and does not make it ask the storage again", async () => {
    const { start, settle, emulator, orders } = share();
    emulator.faults.add({ on: "orders.lookup", fault: "slow", ms: 150 });
    const { partner, requests, seen } = start({ slow: 900 });
    await settle(partner.orders.ensure(orderOf(emulator, "shop-1001")));
    expect(requests().map((each) => each.split(" ")[0])).toEqual(["GET", "GET", "POST"]);
    // The note, and the order.
    expect(seen.filter((each) => each === "set order")).toHaveLength(2);
    expect(await orders()).toBe(1);
  });
});

describe("a claim with a storage", () => {
  it("without a `key` whose end the storage does not take does not hide the next equal one", async () => {
    const { start, settle, lose, clock, emulator, claim } = await shareClaim();
    let filings = 0;
    const onResponse = ({ endpoint }: { endpoint: string }) => {
      if (endpoint.startsWith("POST") && ++filings === 1) lose("fails");
    };
    const { partner } = start({ hooks: { onResponse } });
    const filed = await settle(partner.claims.createItemIssues(claim));
    lose(undefined);
    await clock.advance(60_000);
    await settle(partner.orders.ensure(orderOf(emulator, "shop-1001")));
    await clock.advance(1_000);
    const next = await settle(start().partner.claims.createItemIssues(claim));
    expect([next.existed, next.reference === filed.reference]).toEqual([false, false]);
  });

  it("is not the one that another process has filed a moment before, when the next one dies before its request", async () => {
    const { start, settle, clock, claim, listed, kill } = await shareClaim();
    await settle(start().partner.claims.createItemIssues(claim));
    const killed = kill({ killAt: 8 }, ({ claims }) => claims.createItemIssues(claim));
    await clock.advance(1_000);
    expect([killed.seen.includes("set claim done"), killed.requests()]).toEqual([true, []]);
    expect(await settle(start().partner.claims.createItemIssues(claim))).toMatchObject({ existed: false });
    expect(await listed()).toHaveLength(2);
  });

  it("is not an equal one with another `key` that was filed after its request, which never arrived", async () => {
    const { start, settle, clock, claim, kill } = await shareClaim();
    kill({ killAt: 8 }, ({ claims }) => claims.createItemIssues(claim, { key: "rma-17" }));
    await clock.advance(1_000);
    const other = await settle(start().partner.claims.createItemIssues(claim, { key: "rma-18" }));
    const again = await settle(start().partner.claims.createItemIssues(claim, { key: "rma-17" }));
    expect([again.existed, again.reference === other.reference]).toEqual([false, false]);
  });

  it("is not one of another `key` whose process died before the storage knew it, once that one is repeated", async () => {
    const { start, settle, clock, storage, claim, kill } = await shareClaim();
    kill({ killAt: 8 }, ({ claims }) => claims.createItemIssues(claim, { key: "rma-18" }));
    await clock.advance(1_000);
    const set: KeyValueStorage["set"] = (key, ...rest) =>
      key.includes("claim-filed") ? new Promise(() => undefined) : storage.set(key, ...rest);
    start({ storage: { ...storage, set }, killAfter: "response" })
      .partner.claims.createItemIssues(claim, { key: "rma-17" })
      .catch(() => undefined);
    await clock.advance(40_000);
    const other = await settle(start().partner.claims.createItemIssues(claim, { key: "rma-17" }));
    const again = await settle(start().partner.claims.createItemIssues(claim, { key: "rma-18" }));
    expect([other.existed, again.existed, again.reference === other.reference]).toEqual([true, false, false]);
  });

  it("is not one with the same lines whose `key` is in doubt, too: the comment decides, or the outcome is unknown", async () => {
    const { start, settle, clock, storage, claim, kill, listed } = await shareClaim();
    const first = { ...claim, comment: "of rma-17" };
    const second = { ...claim, comment: "of rma-18" };
    // The first one never arrives. The second one is filed, and its process dies before the storage knows it.
    kill({ killAt: 8 }, ({ claims }) => claims.createItemIssues(first, { key: "rma-17" }));
    await clock.advance(1_000);
    const set: KeyValueStorage["set"] = (key, ...rest) =>
      key.includes("claim-filed") ? new Promise(() => undefined) : storage.set(key, ...rest);
    start({ storage: { ...storage, set }, killAfter: "response" })
      .partner.claims.createItemIssues(second, { key: "rma-18" })
      .catch(() => undefined);
    await clock.advance(60_000);
    expect(await listed()).toHaveLength(1);
    const early = await settle(rejection(start().partner.claims.createItemIssues(first, { key: "rma-17" })));
    expect(early).toMatchObject({ name: "OutcomeUnknownError", isRetryable: true });
    const again = await settle(start().partner.claims.createItemIssues(second, { key: "rma-18" }));
    const late = await settle(start().partner.claims.createItemIssues(first, { key: "rma-17" }));
    expect([again.existed, late.existed]).toEqual([true, false]);
    const { partner } = start();
    const commentOf = async ({ reference }: typeof late) => (await settle(partner.claims.get(reference))).comment;
    expect([await commentOf(again), await commentOf(late)]).toEqual(["of rma-18", "of rma-17"]);
    expect(await listed()).toHaveLength(2);
  });

  it("is not one that the service files late for another `key`, whose call has ended in doubt, in any process", async () => {
    const { start, settle, clock, emulator, claim, listed } = await shareClaim();
    emulator.faults.add({ on: "claims.createItemIssues", nth: 1, fault: "slow", ms: 29_000, when: "before" });
    emulator.faults.add({ on: "claims.createItemIssues", nth: 2, fault: "slow", ms: 3_000, when: "before" });
    const file = (key: string, deadline?: number) =>
      start().partner.claims.createItemIssues(claim, { key, ...(deadline !== undefined && { deadline }) });
    const early = await settle(rejection(file("rma-1", 500)));
    expect(early).toMatchObject({ name: "OutcomeUnknownError", isRetryable: true });
    while ((await listed()).length === 0) await clock.advance(100);
    const [one, other] = await settle(Promise.all([file("rma-2"), file("rma-2")]));
    const late = await settle(file("rma-1"));
    expect([one.reference === other.reference, late.existed, late.reference === one.reference]).toEqual([
      true,
      true,
      false,
    ]);
    expect(await listed()).toHaveLength(2);
  });

  it("is one of two equal ones whose processes were killed: each `key` gets one", async () => {
    const { settle, clock, start, claim, kill, listed } = await shareClaim();
    for (const key of ["rma-1", "rma-2"]) {
      kill({ killAfter: "POST /v2/claim-item-issues" }, ({ claims }) => claims.createItemIssues(claim, { key }));
      await clock.advance(60_000);
    }
    expect(await listed()).toHaveLength(2);
    const references: string[] = [];
    for (const key of ["rma-1", "rma-2", "rma-1"]) {
      const { reference, existed } = await settle(start().partner.claims.createItemIssues(claim, { key }));
      expect(existed).toBe(true);
      references.push(reference);
    }
    expect([new Set(references).size, references[2]]).toEqual([2, references[0]]);
    expect(await listed()).toHaveLength(2);
  });

  it("does not take over what a call of the same client with another `key` has left in doubt", async () => {
    const { start, settle, emulator, clock, claim } = await shareClaim();
    emulator.faults.add({ on: "claims.createItemIssues", nth: 1, fault: "slow", ms: 60_000, when: "after" });
    const { partner } = start();
    const end = new AbortController();
    const stopped = rejection(partner.claims.createItemIssues(claim, { key: "rma-17", signal: end.signal }));
    await clock.advance(1_000);
    end.abort();
    await stopped;
    const other = await settle(partner.claims.createItemIssues(claim, { key: "rma-18" }));
    const again = await settle(partner.claims.createItemIssues(claim, { key: "rma-17" }));
    expect([other.existed, again.reference === other.reference]).toEqual([false, false]);
  });

  it.each([
    ["with a `key` within seconds: it is looked up while the service may still work on it", "rma-17", 4_000],
    [
      "without a `key` when the service cannot work on it any more: another equal one may be at work",
      undefined,
      42_000,
    ],
  ])("whose process was killed after the request is found %s", async (_, key, within) => {
    const { start, settle, clock, claim, listed, kill } = await shareClaim();
    kill({ killAfter: "POST /v2/claim-item-issues" }, ({ claims }) => claims.createItemIssues(claim, { key }));
    await clock.advance(1_000);
    const began = clock.now();
    const again = start().partner.claims.createItemIssues(claim, { key });
    expect(await settle(again)).toMatchObject({ existed: true, recovered: false });
    expect(clock.now() - began).toBeLessThan(within);
    expect(clock.now() - began).toBeGreaterThan(within / 10);
    expect(await listed()).toHaveLength(1);
  });

  it.each([1_000, 1_400, 1_800])(
    "is filed once when a process that has waited for %i ms finds it first",
    async (after) => {
      const { start, settle, clock, emulator, claim, listed } = await shareClaim();
      emulator.faults.add({ on: "claims.createItemIssues", nth: 1, fault: "slow", ms: 3_000, when: "before" });
      const first = start({ timeout: 500 }).partner.claims.createItemIssues(claim, { key: "rma-17" });
      await clock.advance(after);
      const other = start().partner.claims.createItemIssues(claim, { key: "rma-17" });
      const filed = await settle(Promise.all([first, other]));
      expect(filed).toMatchObject([{ recovered: true }, { existed: true }]);
      expect(await listed()).toHaveLength(1);
    },
  );

  it("that was found while another process had its lock is known from then on, also to the same client", async () => {
    const { start, settle, clock, claim, listed, kill } = await shareClaim();
    kill({ killAfter: "POST /v2/claim-item-issues" }, ({ claims }) =>
      claims.createItemIssues(claim, { key: "rma-17" }),
    );
    await clock.advance(1_000);
    const { partner, requests } = start();
    const found = await settle(partner.claims.createItemIssues(claim, { key: "rma-17" }));
    await clock.advance(60_000);
    const before = requests().length;
    const again = await settle(partner.claims.createItemIssues(claim, { key: "rma-17" }));
    expect(again).toEqual(found);
    expect(requests()).toHaveLength(before);
    expect(await listed()).toHaveLength(1);
  });

  it("is not an equal one without a `key` on which another process works at the same time", async () => {
    const { start, settle, emulator, claim, listed } = await shareClaim();
    emulator.faults.add({ on: "claims.createItemIssues", fault: "slow", ms: 5_000, when: "after" });
    const filed = await settle(
      Promise.all([start(), start()].map(({ partner }) => partner.claims.createItemIssues(claim))),
    );
    expect(filed.map(({ existed }) => existed)).toEqual([false, false]);
    expect(await listed()).toHaveLength(2);
  });

  it("is not an equal one with another `key` on which another process works, after its own request never arrived", async () => {
    const { start, settle, clock, emulator, claim, listed, kill } = await shareClaim();
    kill({ killAt: 8 }, ({ claims }) => claims.createItemIssues(claim, { key: "rma-17" }));
    await clock.advance(40_000);
    emulator.faults.add({ on: "claims.createItemIssues", fault: "slow", ms: 5_000, when: "after" });
    const other = start().partner.claims.createItemIssues(claim, { key: "rma-18" });
    await clock.advance(100);
    const again = start().partner.claims.createItemIssues(claim, { key: "rma-17" });
    const filed = await settle(Promise.all([other, again]));
    expect(filed.map(({ existed }) => existed)).toEqual([false, false]);
    expect(await listed()).toHaveLength(2);
  });

  it("waits for another one of its shipment, which a look-up could take for it", async () => {
    const { start, settle, emulator, claim } = await shareClaim();
    emulator.faults.add({ on: "claims.createItemIssues", fault: "slow", ms: 3_000, when: "before" });
    const filed = await settle(
      Promise.all(["rma-17", "rma-18"].map((key) => start().partner.claims.createItemIssues(claim, { key }))),
    );
    expect(new Set(filed.map(({ reference }) => reference)).size).toBe(2);
    expect(filed.map(({ existed }) => existed)).toEqual([false, false]);
  });

  it.each([4_500, 8 * 3_600_000])("is found when the process that died had a clock %i ms ahead", async (ahead) => {
    const { start, settle, clock, claim, listed, kill } = await shareClaim();
    kill({ killAt: 9, ahead }, ({ claims }) => claims.createItemIssues(claim, { key: "rma-17" }));
    await clock.advance(1_000);
    const again = start().partner.claims.createItemIssues(claim, { key: "rma-17" });
    expect(await settle(again)).toMatchObject({ existed: true });
    expect(await listed()).toHaveLength(1);
  });

  it("is retracted once without asking the service again", async () => {
    const { start, settle, claim } = await shareClaim();
    const { reference } = await settle(start().partner.claims.createItemIssues(claim));
    await settle(start().partner.claims.retract(reference));
    const { partner, requests } = start();
    await settle(partner.claims.retract(reference));
    expect(requests()).toEqual([]);
  });

  it("leaves neither its content nor an address in the storage", async () => {
    const { start, settle, storage, emulator, claim } = await shareClaim();
    const { partner } = start();
    await settle(partner.orders.ensure(orderOf(emulator, "shop-1001")));
    await settle(partner.claims.createItemIssues({ ...claim, comment: "For Ada Jansen" }, { key: "rma-17" }));
    const texts = [];
    for await (const key of storage.keys("")) texts.push(key, new TextDecoder().decode(await storage.get(key)));
    expect(texts.join(" ")).toContain("rma-17");
    expect(texts.join(" ")).not.toMatch(/Ada|Jansen|Kade|1011|example\.com|test-key|quantity/);
  });
});

describe("an order in doubt", () => {
  it("is left to the next process when the service cannot work on it any more", async () => {
    const { start, settle, emulator, orders, posts } = share();
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 20_000, when: "before" });
    const order = orderOf(emulator, "shop-1001");
    const error = await settle(rejection(start().partner.orders.ensure(order, { deadline: 2_000 })));
    expect(error).toMatchObject({ name: "OutcomeUnknownError" });
    expect(await settle(start().partner.orders.ensure(order))).toMatchObject({ existed: true });
    expect([await orders(), posts()]).toEqual([1, 1]);
  });
});

describe("a request", () => {
  it.each([
    ["the note", "order:"],
    ["the longer lock", "order-lease:"],
  ])("is not sent when the storage refuses %s", async (_, kind) => {
    const { start, settle, emulator, storage, posts } = share();
    const set: KeyValueStorage["set"] = async (key, value, options) =>
      !(key.includes(`:${kind}`) && options?.ttl !== 10_000) && storage.set(key, value, options);
    const { partner } = start({ storage: { ...storage, set } });
    const error = await settle(rejection(partner.orders.ensure(orderOf(emulator, "shop-1001"))));
    expect(error).toMatchObject({ name: "StorageError", isRetryable: true });
    expect(posts()).toBe(0);
  });

  it("is noted again when the process was suspended for 4 s after the note: the lock lasts from the request on", async () => {
    const { start, settle, emulator, clock, posts } = share();
    // It is suspended when the storage has the note and the longer lock.
    const { partner, seen, resume } = start({ suspendAt: 8, slow: 50 });
    const call = partner.orders.ensure(orderOf(emulator, "shop-1001"), { lookFirst: false });
    await clock.advance(1_000);
    expect(seen.at(-1)).toBe("set order-lease done");
    await clock.advance(4_000);
    resume();
    await clock.advance(40);
    expect(posts()).toBe(0);
    await settle(call);
    expect(posts()).toBe(1);
  });

  it("is given up after five turns whose note the storage does not take, and returns its slots", async () => {
    const { start, settle, emulator, storage, clock } = share({ pacing: { perSecond: 0.001, burst: 6 } });
    let turns = 0;
    const set: KeyValueStorage["set"] = async (key, value, options) => {
      if (key.includes(":order-lease:") && options?.ttl === 10_000) turns += 1;
      return !key.includes(":order:") && storage.set(key, value, options);
    };
    const { partner } = start({ storage: { ...storage, set } });
    expect(await settle(rejection(partner.orders.create(orderOf(emulator, "shop-1001"))))).toMatchObject({
      name: "StorageError",
    });
    expect(turns).toBe(5);
    const began = clock.now();
    const calls = Promise.all(Array.from({ length: 6 }, () => partner.auth.validate()));
    expect(await settle(calls.then(() => clock.now() - began))).toBeLessThan(5_000);
  });

  it("does not wait for a storage that a wrong option makes fail, for example without its table", async () => {
    const { start, settle, emulator, storage, clock, posts } = share();
    const wrong = new ConfigurationError({ issues: [{ path: ["table"], message: "is missing" }] });
    const began = clock.now();
    const { partner } = start({ storage: { ...storage, get: () => Promise.reject(wrong) } });
    const ended = rejection(partner.orders.ensure(orderOf(emulator, "shop-1001")));
    expect(await settle(ended)).toMatchObject({ name: "ConfigurationError" });
    expect([clock.now() - began <= 1_000, posts()]).toEqual([true, 0]);
  });

  it("looks the order up when another process has noted it since the note was read", async () => {
    const { start, settle, emulator, storage } = share();
    const order = orderOf(emulator, "shop-1001");
    let isFirst = true;
    const set: KeyValueStorage["set"] = async (key, value, options) => {
      if (key.includes(":order:") && isFirst) {
        isFirst = false;
        // Like a process that has lost its lock without knowing it.
        await storage.set(key, value);
      }
      return storage.set(key, value, options);
    };
    const { partner, requests } = start({ storage: { ...storage, set } });
    await settle(partner.orders.ensure(order, { lookFirst: false }));
    expect(requests().map((each) => each.split(" ")[0])).toEqual(["GET", "POST"]);
  });
});

describe("a lock", () => {
  it("that comes after the end of its call is given back", async () => {
    const { start, settle, emulator, clock } = share();
    const order = orderOf(emulator, "shop-1001");
    const end = new AbortController();
    const call = start({ slow: 500 }).partner.orders.ensure(order, { signal: end.signal });
    const aborted = rejection(call);
    await clock.advance(300);
    end.abort();
    await aborted;
    await clock.advance(2_000);
    const began = clock.now();
    const ended = start().partner.orders.ensure(order);
    expect(await settle(ended.then(() => clock.now() - began))).toBeLessThan(100);
  });

  it("of another process, when the storage is lost meanwhile, is waited for as long as before", async () => {
    const { start, settle, emulator, clock, lose, kill } = share();
    const order = orderOf(emulator, "shop-1001");
    kill({ killAt: 10 }, ({ orders }) => orders.ensure(order));
    await clock.advance(100);
    const call = start().partner.orders.ensure(order);
    await clock.advance(26_000);
    lose("fails");
    await clock.advance(6_000);
    lose(undefined);
    expect(await settle(call)).toMatchObject({ existed: false });
  });
});

describe("a claim whose process was killed, on machines with other clocks", () => {
  it.each([-600_000, -2_000, 0, 2_000, 600_000])(
    "is found by the next process when the first clock is %d ms ahead",
    async (ahead) => {
      const { start, settle, clock, claim, kill, listed } = await shareClaim();
      kill({ ahead, killAfter: "response" }, ({ claims }) => claims.createItemIssues(claim, { key: "rma-17" }));
      await clock.advance(60_000);
      const again = await settle(start().partner.claims.createItemIssues(claim, { key: "rma-17" }));
      expect([again.existed, (await listed()).length]).toEqual([true, 1]);
    },
  );

  it("is found by a client that has read it since", async () => {
    const { start, settle, clock, claim, kill, listed } = await shareClaim();
    kill({ killAfter: "response" }, ({ claims }) => claims.createItemIssues(claim, { key: "rma-17" }));
    await clock.advance(60_000);
    const { partner } = start();
    await settle(partner.claims.list().toArray());
    const again = await settle(partner.claims.createItemIssues(claim, { key: "rma-17" }));
    expect([again.existed, (await listed()).length]).toEqual([true, 1]);
  });

  it.each([0, 2_000])(
    "is filed beside an equal one that was there 30 s before, when the first clock is %d ms ahead",
    async (ahead) => {
      const { start, settle, clock, claim, kill, connect, listed } = await shareClaim();
      const before = await settle(connect().claims.createItemIssues(claim));
      await clock.advance(30_000);
      kill({ ahead, killAt: 8 }, ({ claims }) => claims.createItemIssues(claim, { key: "rma-17" }));
      await clock.advance(60_000);
      const again = await settle(start().partner.claims.createItemIssues(claim, { key: "rma-17" }));
      expect([again.existed, again.reference === before.reference]).toEqual([false, false]);
      expect(await listed()).toHaveLength(2);
    },
  );
});

describe("the name of a creation in the storage", () => {
  const long = "r".repeat(250);
  it.each([
    ["two long keys that differ at their end", `${long}1`, `${long}2`],
    ["characters that are no text", "\ud800", "\ud801"],
    ["spaces, slashes and percent signs", "a b/c%", "a b/c%25"],
    ["other writing", "返品1", "返品2"],
    ["200 characters and one more", "r".repeat(200), "r".repeat(201)],
  ])("is printable, short, and another one for each key: %s", async (_, one, other) => {
    const { start, settle, storage, claim, listed } = await shareClaim();
    const names = new Set<string>();
    const set: KeyValueStorage["set"] = (name, ...rest) => {
      names.add(name);
      return storage.set(name, ...rest);
    };
    const file = (key: string) =>
      settle(start({ storage: { ...storage, set } }).partner.claims.createItemIssues(claim, { key }));
    const [first, second, third, fourth] = [await file(one), await file(other), await file(one), await file(other)];
    expect([first, second, third, fourth].map(({ existed }) => existed)).toEqual([false, false, true, true]);
    expect([third.reference, fourth.reference]).toEqual([first.reference, second.reference]);
    expect(await listed()).toHaveLength(2);
    for (const name of names) expect(name).toMatch(/^[\x21-\x7e]{1,300}$/);
  });

  it("has the key itself when it is short", async () => {
    const { start, settle, storage, claim } = await shareClaim();
    await settle(start().partner.claims.createItemIssues(claim, { key: "rma-17" }));
    const names: string[] = [];
    for await (const name of storage.keys("")) names.push(name.replace(/^[^}]*\}:/, ""));
    expect(names).toContain("claim:key%3Arma-17");
  });
});

describe("a note that another version of the SDK has written", () => {
  it.each([
    ["of a later version", '{"version":2,"sentAt":"2026-11-02"}'],
    ["that is no JSON", "sent"],
  ])("%s says that the creation may have been sent: it is looked up first", async (_, text) => {
    const { start, settle, clock, storage, emulator, kill, orders } = share();
    const order = orderOf(emulator, "shop-1001");
    kill({ killAfter: "response" }, ({ orders }) => orders.ensure(order, { lookFirst: false }));
    await clock.advance(60_000);
    const names: string[] = [];
    for await (const name of storage.keys("")) if (name.includes(":order:")) names.push(name);
    expect(names).toHaveLength(1);
    for (const name of names)
      await storage.set(name, seal(name.slice(name.indexOf("}:") + 2), new TextEncoder().encode(text)));
    const again = await settle(start().partner.orders.ensure(order, { lookFirst: false }));
    expect([again.existed, await orders()]).toEqual([true, 1]);
  });
});
