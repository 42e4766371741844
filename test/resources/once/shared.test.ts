import type { PodPartner } from "pod-partner";
import { sampleImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { orderOf } from "../../http/matrix/subjects.ts";
import { rejection } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";
import { setUp } from "../../support/setup.ts";
import { share, shareClaim } from "./share.ts";

/** The creations that a storage makes once. */
const creations = ["POST /orders", "POST /claim-item-issues", "POST /claims/{claimReference}/retract"];

async function creationOf(post: string, { start, settle, claim, emulator }: Awaited<ReturnType<typeof shareClaim>>) {
  const { reference } = await settle(start().partner.claims.createItemIssues(claim));
  const order = orderOf(emulator, "shop-1001");
  return ({ orders, claims }: PodPartner): PromiseLike<unknown> => {
    if (post === "POST /orders") return orders.ensure(order);
    return post.endsWith("retract") ? claims.retract(reference) : claims.createItemIssues(claim, { key: "rma-17" });
  };
}

describe("two processes with one storage", () => {
  it("place an order once that both ensure at the same time, and the second one waits for the first", async () => {
    const { start, settle, emulator, orders } = share();
    const reasons: string[] = [];
    emulator.faults.add({ on: "orders.create", fault: "slow", ms: 700 });
    const one = start();
    const other = start({ hooks: { onPause: ({ reason }) => void reasons.push(reason) } });
    const order = orderOf(emulator, "shop-1001");
    const placed = await settle(Promise.all([one.partner.orders.ensure(order), other.partner.orders.ensure(order)]));
    expect(placed[0].reference).toBe(placed[1].reference);
    expect(placed.map(({ existed, recovered }) => [existed, recovered])).toEqual([
      [false, false],
      [true, false],
    ]);
    expect([await orders(), reasons]).toEqual([1, ["other-process"]]);
    // The storage knows it: no look-up and no comparison.
    expect(other.requests()).toEqual([]);
  });

  it("place it once, also by `create`, after any mix of the two", async () => {
    const { start, settle, emulator, orders } = share();
    const order = orderOf(emulator, "shop-1001");
    const calls = [
      start().partner.orders.create(order),
      start().partner.orders.ensure(order),
      start().partner.orders.create(order),
    ];
    const placed = await settle(Promise.all(calls));
    expect(new Set(placed.map(({ reference }) => reference)).size).toBe(1);
    expect(await orders()).toBe(1);
  });

  it("give the second one the status of the response that the first one had", async () => {
    const { start, settle, emulator } = share();
    const order = orderOf(emulator, "shop-1001");
    const fetch: typeof globalThis.fetch = async (given, init) => {
      const { body, headers } = await emulator.fetch(new Request(given, init));
      return new Response(body, { status: 201, headers });
    };
    const one = await settle(start({ fetch }).partner.orders.ensure(order, { lookFirst: false }).withResponse());
    const other = await settle(start().partner.orders.ensure(order).withResponse());
    expect([one.response.status, other.response.status, other.data.existed]).toEqual([201, 201, true]);
  });

  it("do not wait for each other when one gives up while its slow storage still sets the lock", async () => {
    const { start, settle, emulator, clock, posts } = share();
    const order = orderOf(emulator, "shop-1001");
    const controller = new AbortController();
    const { partner, seen } = start({ slow: 400 });
    const early = rejection(partner.orders.ensure(order, { signal: controller.signal }));
    await clock.advance(600);
    controller.abort(new Error("left"));
    expect(await settle(early)).toMatchObject({ message: "left" });
    await clock.advance(1_000);
    expect(seen.filter((each) => each.endsWith(" order-lease"))).toEqual(["set order-lease", "delete order-lease"]);
    const began = clock.now();
    await settle(start().partner.orders.ensure(order));
    expect(clock.now() - began).toBeLessThan(5_000);
    expect(posts()).toBe(1);
  });

  it("look up what the other one has noted after a second, then ever more rarely", async () => {
    const { start, settle, emulator, clock, posts, kill } = share();
    const order = orderOf(emulator, "shop-1001");
    const first = kill({ killAt: 10 }, ({ orders }) => orders.ensure(order));
    await clock.advance(100);
    const began = clock.now();
    const at: number[] = [];
    const onRequest = () => void at.push(clock.now() - began);
    await settle(start({ hooks: { onRequest } }).partner.orders.ensure(order));
    expect([first.seen.at(-1), posts()]).toEqual(["set order-lease done", 1]);
    expect(at[0]).toBeLessThan(2_000);
    // The last two are its own look-up and its own request, when the lock of the other one has ended.
    const pauses = at.slice(1, -2).map((ms, index) => ms - (at[index] ?? 0));
    expect(pauses).toEqual([2_000, 4_000, 8_000, 8_000, 8_000]);
  });

  it("send nothing more for an order without an identifier than without a storage", async () => {
    const { start, settle, emulator } = share();
    const { customIdentifier: _, ...order } = orderOf(emulator, "shop-1001");
    const { partner, seen } = start();
    await settle(partner.orders.create(order));
    expect(seen).toHaveLength(2);
  });
});

describe("a process that is killed", () => {
  const methods = ["ensure", "create"] as const;
  // Its lock still blocks the next one, or has ended.
  const pauses = [2_000, 60_000];
  const ways = methods.flatMap((before) => methods.flatMap((after) => pauses.map((ms) => ({ before, after, ms }))));
  // Each request and each operation of the storage that placing an order takes.
  const places = Array.from({ length: 16 }, (_, killAt) => killAt);

  it.each(ways.flatMap((way) => places.map((killAt) => ({ ...way, killAt }))))(
    "at place $killAt of `$before` leaves an order that `$after` of the next one, $ms ms later, places once, without further care",
    async ({ before, after, ms, killAt }) => {
      const { start, settle, emulator, clock, orders, posts, kill } = share();
      const order = orderOf(emulator, "shop-1001");
      const first = kill({ killAt }, ({ orders }) => orders[before](order));
      await clock.advance(ms);
      const wasSent = posts() > 0;
      const began = clock.now();
      const { existed } = await settle(start().partner.orders[after](order));
      const took = clock.now() - began;
      expect([await orders(), posts(), existed]).toEqual([1, 1, wasSent]);
      // As soon as the lock has ended; a noted request first gets the time that the service may work.
      const isNoted = first.seen.filter((each) => each === "set order-lease").length > 1;
      expect(took).toBeLessThan(isNoted ? 40_000 : 13_000);
    },
  );

  it("while the service still works on its order leaves an order that is not placed twice", async () => {
    const { start, settle, emulator, clock, orders, kill } = share();
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 20_000, when: "before" });
    const order = orderOf(emulator, "shop-1001");
    const first = kill({ killAt: 11 }, ({ orders }) => orders.ensure(order));
    await clock.advance(1_000);
    expect(first.requests().at(-1)).toBe("POST /v2/orders");
    expect(await settle(start().partner.orders.ensure(order))).toMatchObject({ existed: true, recovered: false });
    expect(await orders()).toBe(1);
  });
});

describe("`lookFirst: false`", () => {
  it("places an order that the storage does not know with one request", async () => {
    const { start, settle, emulator } = share();
    const { partner, requests } = start();
    await settle(partner.orders.ensure(orderOf(emulator, "shop-1001"), { lookFirst: false }));
    expect(requests()).toEqual(["POST /v2/orders"]);
  });

  it("looks an order up whose outcome an earlier call could not find out", async () => {
    const { start, settle, emulator, clock, orders, kill } = share();
    const order = orderOf(emulator, "shop-1001");
    const first = kill({ killAt: 9 }, ({ orders }) => orders.ensure(order, { lookFirst: false }));
    await clock.advance(1_000);
    expect(first.requests()).toEqual(["POST /v2/orders"]);
    expect(await settle(start().partner.orders.ensure(order, { lookFirst: false }))).toMatchObject({ existed: true });
    expect(await orders()).toBe(1);
  });

  it("is refused without a storage", async () => {
    const { partner, settle, emulator } = setUp();
    const error = await settle(rejection(partner.orders.ensure(orderOf(emulator, "shop-1001"), { lookFirst: false })));
    expect(error).toMatchObject({ name: "RequestValidationError", issues: [{ path: ["lookFirst"] }] });
  });
});

describe("a storage that is lost", () => {
  const calls = {
    "orders.create": ({ orders }: PodPartner, world: ReturnType<typeof share>) =>
      orders.create(orderOf(world.emulator, "shop-1001")),
    "orders.ensure": ({ orders }: PodPartner, world: ReturnType<typeof share>) =>
      orders.ensure(orderOf(world.emulator, "shop-1001")),
    "claims.createPackageMissing": ({ claims }: PodPartner) =>
      claims.createPackageMissing({ shipmentReference: ref("Shipment") }),
    "claims.retract": ({ claims }: PodPartner) => claims.retract("Claim_01h8x2k3m4n5p6q7r8s9t0v1w2"),
  };
  const each = Object.entries(calls).flatMap(([name, call]) =>
    (["fails", "hangs"] as const).map((how) => ({ name, how, call })),
  );

  it.each(
    each.flatMap((one) => [
      { ...one, deadline: undefined, least: 29_000, most: 34_000 },
      { ...one, deadline: 5_000, least: 0, most: 5_100 },
    ]),
  )("keeps $name from being sent until the deadline, or for 30 s ($how, $deadline)", async (given) => {
    const { how, call, deadline, least, most } = given;
    const world = share({ deadline });
    const { start, settle, lose, clock } = world;
    lose(how);
    const { partner, requests } = start();
    const began = clock.now();
    const error = await settle(rejection(call(partner, world)));
    expect(error).toMatchObject({ name: "StorageError", isRetryable: true });
    expect(clock.now() - began).toBeGreaterThanOrEqual(least);
    expect(clock.now() - began).toBeLessThanOrEqual(most);
    expect(requests()).toEqual([]);
  });

  it("lets an order pass when it is back, and everything else meanwhile", async () => {
    const world = share();
    const { start, settle, lose, emulator, clock } = world;
    lose("fails");
    const reasons: string[] = [];
    const { partner } = start({ hooks: { onPause: ({ reason }) => void reasons.push(reason) } });
    const placing = partner.orders.ensure(orderOf(emulator, "shop-1001"));
    await settle(partner.orders.list().toArray());
    await clock.advance(8_000);
    lose(undefined);
    expect(await settle(placing)).toMatchObject({ existed: false });
    expect(reasons).toEqual(["storage"]);
  });

  it.each(Object.keys(calls).slice(0, 3) as (keyof typeof calls)[])(
    'lets %s pass with `storageLost: "continue"`, which looks first',
    async (name) => {
      const world = share({ storageLost: "continue" });
      const { start, settle, lose } = world;
      lose("fails");
      const { partner, requests } = start();
      await settle<unknown>(rejection(calls[name](partner, world)).catch(() => undefined));
      expect(requests().filter((each) => each.startsWith("POST"))).toHaveLength(1);
    },
  );

  it("is looked past by `lookFirst: false` only when the storage knows nothing: it looks first while it is lost", async () => {
    const { start, settle, lose, emulator } = share({ storageLost: "continue" });
    lose("fails");
    const { partner, requests } = start();
    await settle(partner.orders.ensure(orderOf(emulator, "shop-1001"), { lookFirst: false }));
    expect(requests()[0]).toMatch(/^GET .*lookup/);
  });

  it("refuses changes only gives an order that it knows, at once", async () => {
    const { start, settle, emulator, storage, clock } = share();
    const order = orderOf(emulator, "shop-1001");
    await settle(start().partner.orders.ensure(order));
    const full = { ...storage, set: () => Promise.reject(new Error("full")) };
    const { partner, requests } = start({ storage: full });
    const began = clock.now();
    expect(await settle(partner.orders.ensure(order))).toMatchObject({ existed: true });
    expect([requests(), clock.now() - began]).toEqual([[], expect.any(Number)]);
    expect(clock.now() - began).toBeLessThan(2_000);
  });

  it("is seen: `partner.storage` says what keeps the bytes, and whether it can be reached", async () => {
    const { start, settle, lose, emulator, partner: alone, clock } = share();
    const { partner } = start();
    expect([alone.storage, partner.storage]).toMatchObject([
      { kind: "none", state: "ready" },
      { kind: "memory", state: "ready" },
    ]);
    lose("fails");
    const placing = partner.orders.ensure(orderOf(emulator, "shop-1001"));
    await clock.advance(3_000);
    expect(partner.storage.state).toBe("lost");
    lose(undefined);
    await settle(placing);
    expect(partner.storage.state).toBe("ready");
  });

  it.each(["fails", "hangs"] as const)(
    "is noticed by a health check of an idle process, and its return by reading the state (%s)",
    async (how) => {
      const events: string[] = [];
      const hooks = { onStorageLost: () => void events.push("lost"), onStorageBack: () => void events.push("back") };
      const { start, settle, lose, clock } = share();
      const { partner } = start({ hooks });
      expect(await settle(partner.storage.check())).toBe("ready");
      lose(how);
      expect(await settle(partner.storage.check())).toBe("lost");
      await clock.advance(5_000);
      expect(partner.storage.state).toBe("lost");
      await clock.advance(5_000);
      lose(undefined);
      expect(partner.storage.state).toBe("lost");
      await clock.advance(1_500);
      expect(partner.storage.state).toBe("ready");
      expect(events).toEqual(["lost", "back"]);
      expect(clock.pending).toBe(0);
    },
  );

  it("and refuses changes only is lost for a health check, too, until it takes them again", async () => {
    const { start, settle, storage, clock } = share();
    let isFull = true;
    const full = {
      ...storage,
      set: (...given: Parameters<typeof storage.set>) =>
        isFull ? Promise.reject(new Error("full")) : storage.set(...given),
    };
    const { partner } = start({ storage: full });
    expect([await settle(partner.storage.check()), partner.storage.state]).toEqual(["lost", "lost"]);
    await clock.advance(5_000);
    expect([await settle(partner.storage.check()), partner.storage.state]).toEqual(["lost", "lost"]);
    isFull = false;
    await clock.advance(5_000);
    expect([await settle(partner.storage.check()), partner.storage.state]).toEqual(["ready", "ready"]);
  });

  it.each(creations)(
    "between a creation and its note has the note when it is back, without another call: %s",
    async (post) => {
      const world = await shareClaim();
      const { start, settle, lose, clock } = world;
      const call = await creationOf(post, world);
      const onResponse = ({ endpoint }: { endpoint: string }) => endpoint === post && lose("fails");
      await settle(call(start({ hooks: { onResponse } }).partner));
      await clock.advance(60_000);
      lose(undefined);
      await clock.advance(2_000);
      const other = start();
      await settle(call(other.partner));
      expect(other.requests()).toEqual([]);
    },
  );

  it.each(creations)("sets a lock too late, and its own call does not wait for it: %s", async (post) => {
    const world = await shareClaim();
    const { start, settle, clock, storage } = world;
    const call = await creationOf(post, world);
    let isLate = false;
    const set: typeof storage.set = async (key, ...rest) => {
      if (key.includes("-lease:") && !isLate) {
        isLate = true;
        await new Promise<void>((resolve) => void clock.after(1_500, resolve));
      }
      return storage.set(key, ...rest);
    };
    const began = clock.now();
    await settle(call(start({ storage: { ...storage, set } }).partner));
    expect(clock.now() - began).toBeLessThan(5_000);
  });
});

describe("claims with a storage", () => {
  it("are filed once for their `key`, by any process", async () => {
    const { claim, ...world } = await shareClaim();
    const filed = [];
    for (let count = 0; count < 3; count++)
      filed.push(await world.settle(world.start().partner.claims.createItemIssues(claim, { key: "rma-17" })));
    expect(filed.map(({ existed }) => existed)).toEqual([false, true, true]);
    expect(new Set(filed.map(({ reference }) => reference)).size).toBe(1);
  });

  it.each([
    ["without a `key`", {}, {}],
    ["with another `key`", { key: "rma-17" }, { key: "rma-18" }],
  ])("are new after an equal one %s", async (_, one, other) => {
    const { claim, ...world } = await shareClaim();
    const { reference } = await world.settle(world.start().partner.claims.createItemIssues(claim, one));
    const next = await world.settle(world.start().partner.claims.createItemIssues(claim, other));
    expect(next).toMatchObject({ existed: false, recovered: false });
    expect(next.reference).not.toBe(reference);
  });

  it("are the same for their `key` when only the photos were uploaded again", async () => {
    const { claim, ...world } = await shareClaim();
    const evidence = async (content: string) =>
      (await world.settle(world.partner.evidence.upload(sampleImage(content)))).reference;
    const photos = [await evidence("one"), await evidence("two")];
    const filed = [];
    for (const evidenceReference of photos) {
      const claimlines = claim.claimlines.map((line) => ({ ...line, evidenceReferences: [evidenceReference] }));
      filed.push(
        await world.settle(world.start().partner.claims.createItemIssues({ ...claim, claimlines }, { key: "rma-17" })),
      );
    }
    expect(filed.map(({ existed }) => existed)).toEqual([false, true]);
  });

  it("are refused when their `key` is that of another claim", async () => {
    const { start, settle, claim } = await shareClaim();
    const { reference } = await settle(start().partner.claims.createItemIssues(claim, { key: "rma-17" }));
    const other = start();
    const error = await settle(
      rejection(other.partner.claims.createItemIssues({ ...claim, comment: "another" }, { key: "rma-17" })),
    );
    const message = `is the key of another claim, ${reference}, with other content`;
    expect(error).toMatchObject({ name: "RequestValidationError", issues: [{ path: ["key"], message }] });
    expect(other.requests()).toEqual([]);
  });

  it.each([1_000, 60_000])(
    "are refused when their `key` is that of another claim, whose process was killed %i ms ago",
    async (ago) => {
      const { start, settle, clock, claim, kill } = await shareClaim();
      kill({ killAt: 9 }, ({ claims }) => claims.createItemIssues(claim, { key: "rma-17" }));
      await clock.advance(ago);
      const other = start();
      const error = await settle(
        rejection(other.partner.claims.createItemIssues({ ...claim, comment: "another" }, { key: "rma-17" })),
      );
      const message = "is the key of another claim with other content";
      expect(error).toMatchObject({ name: "RequestValidationError", issues: [{ path: ["key"], message }] });
      expect(other.requests()).toEqual([]);
      expect(await settle(start().partner.claims.createItemIssues(claim, { key: "rma-17" }))).toMatchObject({
        existed: true,
      });
    },
  );

  it.each([
    ["fails", { key: "rma-17" }],
    ["hangs", { key: "rma-17" }],
    ["fails", {}],
    ["hangs", {}],
  ] as const)("are not taken for one another while the storage %s during a look-up: %o", async (how, options) => {
    const { start, settle, claim, kill, lose, listed } = await shareClaim();
    kill({ killAfter: "set claim done" }, ({ claims }) => claims.createItemIssues(claim, options));
    const other = await settle(start().partner.claims.createItemIssues(claim, { key: "rma-18" }));
    const onResponse = ({ endpoint }: { endpoint: string }) => endpoint === "GET /claims/{claimReference}" && lose(how);
    const again = start({ hooks: { onResponse } }).partner.claims.createItemIssues(claim, options);
    expect(await settle(rejection(again))).toMatchObject({
      name: "OutcomeUnknownError",
      isRetryable: "key" in options,
    });
    lose(undefined);
    const { reference } = await settle(start().partner.claims.createItemIssues(claim, options));
    expect((await listed()).map((each) => each.reference).sort()).toEqual([reference, other.reference].sort());
  });

  it("are not taken for one that another process filed just before its storage was lost", async () => {
    const { start, settle, claim, kill, lose, listed, clock } = await shareClaim();
    kill({ killAfter: "set claim done" }, ({ claims }) => claims.createItemIssues(claim, { key: "rma-17" }));
    const onResponse = ({ endpoint }: { endpoint: string }) => endpoint === "POST /claim-item-issues" && lose("fails");
    const { partner } = start({ hooks: { onResponse } });
    const other = await settle(partner.claims.createItemIssues(claim, { key: "rma-18" }));
    lose(undefined);
    await clock.advance(60_000);
    const { reference } = await settle(start().partner.claims.createItemIssues(claim, { key: "rma-17" }));
    expect((await listed()).map((each) => each.reference).sort()).toEqual([reference, other.reference].sort());
  });

  it.each([
    ["hold", "OutcomeUnknownError", "cannot be reached, so it is not known whether another call filed Claim_"],
    ["continue", "", ""],
  ] as const)(
    "whose response is lost together with the storage: `storageLost: %j` ends as %j",
    async (storageLost, name, cause) => {
      const { start, settle, claim, lose, emulator, listed } = await shareClaim({ storageLost });
      emulator.faults.add({ on: "claims.createItemIssues", nth: 1, fault: "drop", when: "after" });
      const onRetry = () => lose("fails");
      const onRequest = ({ endpoint }: { endpoint: string }) => endpoint === "GET /claims" && lose("fails");
      const { partner } = start({ hooks: { onRetry, onRequest } });
      const ending = await settle(
        partner.claims.createItemIssues(claim, { key: "rma-17" }).then(
          ({ recovered }) => ({ recovered }),
          (error: Error) => error,
        ),
      );
      if (name === "") expect(ending).toEqual({ recovered: true });
      else expect(ending).toMatchObject({ name, cause: { message: expect.stringContaining(cause) } });
      expect(await listed()).toHaveLength(1);
    },
  );

  it("are retracted once, also when the queue repeats it or the first process is killed", async () => {
    const { start, settle, clock, emulator, claim, kill } = await shareClaim();
    const { reference } = await settle(start().partner.claims.createItemIssues(claim));
    kill({ killAt: 9 }, ({ claims }) => claims.retract(reference));
    await clock.advance(1_000);
    await settle(start().partner.claims.retract(reference));
    await settle(start().partner.claims.retract(reference));
    expect(emulator.requests.filter(({ path }) => path.endsWith("/retract"))).toHaveLength(1);
  });

  it("take no `key` without a storage", async () => {
    const { partner, settle } = setUp();
    const claim = { shipmentReference: ref("Shipment") };
    expect(await settle(rejection(partner.claims.createPackageMissing(claim, { key: "rma-17" })))).toMatchObject({
      issues: [{ path: ["key"] }],
    });
  });
});
