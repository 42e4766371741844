import { AuthenticationError, type KeyValueStorage } from "pod-partner";
import { type OrderFollowerOptions, ReconcileError, type ReconcileProgress } from "pod-partner/callbacks";
import { describe, expect, it } from "vitest";
import { ref } from "../../support/references.ts";
import { settled } from "../support.ts";
import { createWorld, first, newOrder, second, settle } from "./support.ts";

/** A world with followed orders, which were placed and followed a second apart. */
async function createFollowed(count: number, options: Partial<OrderFollowerOptions> = {}) {
  const world = createWorld();
  const orders = Array.from({ length: count }, (_, at) => ref("Order", `a${String(at + 1).padStart(3, "0")}`));
  const follower = world.follower(options);
  for (const reference of orders) {
    world.service.orders.set(reference, newOrder(reference));
    await follower.follow(reference);
  }
  return { ...world, orders, follower, start: world.follower };
}

describe("follower.reconcile", () => {
  it("reads each open order once, with low priority, and hands over what no callback reported", async () => {
    const { clock, service, orders, follower, handed } = await createFollowed(3);
    expect(await follower.reconcile()).toEqual({ checked: 3, changed: 3, gone: 0 });
    service.ship(orders[1] ?? first, [3], [3]);
    await clock.advance(1_000);
    expect(await follower.reconcile()).toEqual({ checked: 3, changed: 1, gone: 0 });
    await clock.advance(1_000);
    expect(await follower.reconcile()).toEqual({ checked: 2, changed: 0, gone: 0 });
    expect(service.reads).toHaveLength(3 + 3 + 2);
    expect(new Set(service.reads.map(({ priority }) => priority))).toEqual(new Set(["low"]));
    expect(handed.at(-1)?.changes.at(-1)).toEqual({ kind: "completed" });
  });

  it("reads the orders that were read longest ago first, in whatever order the storage lists them", async () => {
    const { clock, service, orders, storage, start } = await createFollowed(4);
    async function* keys(prefix: string) {
      const listed: string[] = [];
      for await (const key of storage.keys(prefix)) listed.unshift(key);
      yield* listed;
    }
    const follower = start({ storage: { ...storage, keys } });
    const [a, b, c, d] = orders as [typeof first, typeof first, typeof first, typeof first];
    for (const reference of [c, a, d, b]) {
      await follower.update(reference);
      await clock.advance(1_000);
    }
    service.reads.length = 0;
    await follower.reconcile({ concurrency: 1 });
    expect(service.reads.map(({ reference }) => reference)).toEqual([c, a, d, b]);
  });

  it("reads at most `concurrency` orders at a time", async () => {
    const { service, follower } = await createFollowed(10);
    let running = 0;
    let most = 0;
    service.onRead = async () => {
      running += 1;
      most = Math.max(most, running);
      await settled();
      running -= 1;
      return undefined;
    };
    await follower.reconcile({ concurrency: 3 });
    expect(most).toBe(3);
  });

  it("reports its progress after each order, whatever the function throws", async () => {
    const { orders, follower } = await createFollowed(3, {
      onChange: ({ order }) => {
        if (order.reference === orders[1]) throw new Error("failed");
      },
    });
    const progress: unknown[] = [];
    const onProgress = (one: ReconcileProgress) => {
      progress.push(one);
      throw new Error("the progress bar is broken");
    };
    await expect(follower.reconcile({ concurrency: 1, onProgress })).rejects.toBeInstanceOf(ReconcileError);
    expect(progress).toEqual([
      { checked: 1, changed: 1, gone: 0, failed: 0, remaining: 2 },
      { checked: 1, changed: 1, gone: 0, failed: 1, remaining: 1 },
      { checked: 2, changed: 2, gone: 0, failed: 1, remaining: 0 },
    ]);
  });

  it("gives each request a deadline of five minutes", async () => {
    const { service, follower } = await createFollowed(1);
    await follower.reconcile();
    expect(service.reads).toMatchObject([{ priority: "low", deadline: 300_000 }]);
  });

  it("lists an order as failed that other calls lock for minutes", async () => {
    const { clock, orders, follower, start } = await createFollowed(2);
    const [reference = first] = orders;
    const gate = Promise.withResolvers<void>();
    const slow = start({ timeout: 3_600_000, onChange: () => gate.promise }).update(reference);
    await settled();
    const error = await settle(
      clock,
      follower.reconcile().catch((thrown: unknown) => thrown),
      4_000,
    );
    expect(error).toMatchObject({
      failures: [{ orderReference: reference, error: { fault: "busy" } }],
      result: { checked: 1, changed: 1, gone: 0 },
    });
    gate.resolve();
    await settle(clock, slow);
  });

  it("goes on after a failed order, and rejects at the end with each failure", async () => {
    const { orders, follower, handed } = await createFollowed(5, {
      onChange: ({ order }) => {
        if (order.reference === orders[1]) throw new Error("the database refused it");
      },
    });
    const error = await follower.reconcile().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ReconcileError);
    expect(error).toMatchObject({
      failed: 1,
      failures: [{ orderReference: orders[1], error: new Error("the database refused it") }],
      result: { checked: 4, changed: 4, gone: 0 },
    });
    expect(String(error)).toContain("the database refused it");
    expect(handed).toHaveLength(4);
  });

  it("begins with the failed order the next time, and at once", async () => {
    let failing = true;
    const { clock, service, orders, follower } = await createFollowed(3, {
      onChange: ({ order }) => {
        if (failing && order.reference === orders[2]) throw new Error("failed once");
      },
    });
    await expect(follower.reconcile()).rejects.toThrow("failed once");
    failing = false;
    await clock.advance(1_000);
    service.reads.length = 0;
    await follower.reconcile({ concurrency: 1 });
    expect(service.reads[0]?.reference).toBe(orders[2]);
  });

  it("ends at once with the reason of its signal, and the next one goes on where it stopped", async () => {
    const { service, orders, follower, handed } = await createFollowed(6);
    const controller = new AbortController();
    service.onRead = async () => {
      if (service.reads.length === 3) controller.abort(new Error("enough"));
      return undefined;
    };
    await expect(follower.reconcile({ concurrency: 1, signal: controller.signal })).rejects.toThrow("enough");
    const done = handed.map(({ reference }) => reference);
    expect(done.length).toBeGreaterThan(1);
    service.onRead = async () => undefined;
    service.reads.length = 0;
    await follower.reconcile({ concurrency: 1, unreadFor: 60_000 });
    expect(service.reads.map(({ reference }) => reference)).toEqual(orders.slice(done.length));
    expect(handed).toHaveLength(6);
  });

  it("ends at once with its signal while it waits to read a missing order again", async () => {
    const { clock, service, orders, follower, gone } = await createFollowed(3);
    await follower.reconcile();
    await clock.advance(1_000);
    for (const reference of orders) service.orders.delete(reference);
    service.reads.length = 0;
    const timers = clock.pending;
    const controller = new AbortController();
    const sweep = expect(follower.reconcile({ signal: controller.signal })).rejects.toThrow("enough");
    await settled();
    controller.abort(new Error("enough"));
    await sweep;
    expect([gone, service.reads.length, clock.pending]).toEqual([[], 3, timers]);
  });

  it("ends at once when the key is refused: each further order would be, too", async () => {
    const { service, follower } = await createFollowed(50);
    service.onRead = async () => {
      const response = { status: 401, headers: {}, body: undefined };
      throw new AuthenticationError({ response, code: "unauthorized", message: "no", endpoint: "GET /orders" });
    };
    await expect(follower.reconcile({ concurrency: 2 })).rejects.toBeInstanceOf(AuthenticationError);
    expect(service.reads.length).toBeLessThan(5);
  });

  it("goes on when the handler throws what a refused key would throw", async () => {
    const response = { status: 401, headers: {}, body: "" } as never;
    const { follower } = await createFollowed(3, {
      onChange: () => {
        throw new AuthenticationError({ response, code: "unauthorized", message: "no", endpoint: "GET /other" });
      },
    });
    await expect(follower.reconcile({ concurrency: 1 })).rejects.toMatchObject({ failed: 3, result: { checked: 0 } });
  });

  it("ends at once with a typed error when the storage is lost", async () => {
    const world = createWorld();
    const keys: KeyValueStorage["keys"] = () => {
      throw new Error("lost");
    };
    const follower = world.follower({ storage: { ...world.storage, keys } });
    await expect(follower.reconcile()).rejects.toMatchObject({ name: "OrderFollowerError", fault: "storage" });
  });

  it("removes an order that is gone, and reports it once", async () => {
    const { clock, service, orders, follower, gone } = await createFollowed(2);
    await follower.reconcile();
    await clock.advance(1_000);
    service.orders.delete(orders[0] ?? first);
    expect(await settle(clock, follower.reconcile())).toEqual({ checked: 2, changed: 0, gone: 1 });
    await clock.advance(1_000);
    expect(await follower.reconcile()).toEqual({ checked: 1, changed: 0, gone: 0 });
    expect(gone).toEqual([orders[0]]);
  });

  it("skips orders that a callback has just read, with `unreadFor`", async () => {
    const { clock, service, orders, follower } = await createFollowed(3);
    await follower.update(orders[1] ?? first);
    await clock.advance(10_000);
    service.reads.length = 0;
    await follower.reconcile({ unreadFor: 60_000 });
    expect(service.reads.map(({ reference }) => reference)).toEqual([orders[0], orders[2]]);
  });

  it("reads an order whose callback met a response without news: that may have been too old", async () => {
    const { clock, service, orders, follower, handed } = await createFollowed(1);
    const [reference = first] = orders;
    await follower.update(reference);
    const old = service.orders.get(reference);
    await clock.advance(100_000);
    service.ship(reference, [1]);
    service.onRead = async () => old;
    expect(await follower.update(reference)).toBe("unchanged");
    service.onRead = async () => undefined;
    await clock.advance(10_000);
    expect(await follower.reconcile({ unreadFor: 60_000 })).toMatchObject({ checked: 1, changed: 1 });
    expect(handed.at(-1)).toMatchObject({ reference, shipped: [1, 0] });
  });

  it("counts an order that the service does not show yet as checked", async () => {
    const { clock, service, orders, follower } = await createFollowed(1);
    service.orders.delete(orders[0] ?? first);
    expect(await follower.reconcile()).toEqual({ checked: 1, changed: 0, gone: 0 });
    await clock.advance(1_000);
    expect(await follower.reconcile({ unreadFor: 60_000 })).toEqual({ checked: 0, changed: 0, gone: 0 });
  });

  it("leaves its news to an update of another process that has taken the lock and is still reading", async () => {
    const { clock, service, orders, follower, start, handed } = await createFollowed(1);
    const [reference = first] = orders;
    const responses = { high: Promise.withResolvers<void>(), low: Promise.withResolvers<void>() };
    service.onRead = async ({ priority }) => {
      await responses[priority].promise;
      return undefined;
    };
    const sweep = follower.reconcile();
    await settled();
    const update = start().update(reference);
    await settled();
    responses.low.resolve();
    await clock.advance(3_000);
    expect(handed).toEqual([]);
    responses.high.resolve();
    expect(await settle(clock, Promise.all([update, sweep]))).toEqual(["changed", { checked: 0, changed: 0, gone: 0 }]);
    expect(handed).toHaveLength(1);
  });

  it("does not delay the update of an order that it waits for", async () => {
    const { service, orders, follower, handed } = await createFollowed(1);
    const [reference = first] = orders;
    const queued = Promise.withResolvers<void>();
    service.onRead = async ({ priority }) => {
      if (priority === "low") await queued.promise;
      return undefined;
    };
    const sweep = follower.reconcile();
    await settled();
    await follower.update(reference);
    expect(handed).toHaveLength(1);
    queued.resolve();
    await sweep;
    expect(handed).toHaveLength(1);
  });

  it("drops its response when an update has read the order meanwhile, and hands over nothing older", async () => {
    const { service, orders, follower, handed } = await createFollowed(1);
    const [reference = first] = orders;
    const queued = Promise.withResolvers<void>();
    service.onRead = async ({ priority }) => {
      const now = service.orders.get(reference);
      if (priority === "low") await queued.promise;
      return now;
    };
    const sweep = follower.reconcile();
    await settled();
    service.hold(reference, "no stock");
    await follower.update(reference);
    queued.resolve();
    await sweep;
    expect(handed.map(({ held }) => held)).toEqual([true]);
  });
});

describe("an update of an order that a sweep reads", () => {
  it("lets the sweep hand over nothing that it read before, also when the handler of the update has failed", async () => {
    let failing = true;
    const { clock, service, orders, follower, handed } = await createFollowed(1, {
      onChange: () => {
        if (failing) throw new Error("failed once");
      },
    });
    const [reference = first] = orders;
    const queued = Promise.withResolvers<void>();
    service.ship(reference, [1]);
    service.onRead = async ({ priority }) => {
      const outdated = service.orders.get(reference);
      if (priority === "low") await queued.promise;
      return outdated;
    };
    const sweep = follower.reconcile();
    await settled();
    service.hold(reference, "no stock");
    await expect(follower.update(reference)).rejects.toThrow("failed once");
    failing = false;
    queued.resolve();
    expect(await settle(clock, sweep)).toEqual({ checked: 1, changed: 1, gone: 0 });
    expect(handed.map(({ shipped, held }) => [shipped[0], held])).toEqual([[1, true]]);
  });

  it("lets the sweep hand over nothing older, also when the update began the same change again and has failed", async () => {
    let failing = false;
    const { clock, service, orders, follower, handed } = await createFollowed(1, {
      onChange: () => {
        if (failing) throw new Error("failed");
      },
    });
    const [reference = first] = orders;
    await follower.update(reference);
    await clock.advance(1_000);
    failing = true;
    service.hold(reference, "no stock");
    await expect(follower.update(reference)).rejects.toThrow("failed");
    service.hold(reference, null);
    const queued = Promise.withResolvers<void>();
    service.onRead = async ({ priority }) => {
      const outdated = service.orders.get(reference);
      if (priority === "low") await queued.promise;
      return outdated;
    };
    const sweep = follower.reconcile();
    await settled();
    service.hold(reference, "no stock");
    await expect(follower.update(reference)).rejects.toThrow("failed");
    failing = false;
    queued.resolve();
    expect(await settle(clock, sweep)).toEqual({ checked: 1, changed: 1, gone: 0 });
    expect(handed.map(({ held }) => held)).toEqual([false, true]);
  });

  it("makes a sweep that begins later wait, which then hands over nothing older", async () => {
    const { clock, service, orders, follower, handed } = await createFollowed(1);
    const [reference = first] = orders;
    await follower.update(reference);
    await clock.advance(1_000);
    const requests = { high: Promise.withResolvers<void>(), low: Promise.withResolvers<void>() };
    service.onRead = async ({ priority = "high" }) => {
      if (priority === "high") await requests.high.promise;
      const now = service.orders.get(reference);
      if (priority === "low") await requests.low.promise;
      return now;
    };
    const update = follower.update(reference);
    await settled();
    service.hold(reference, "no stock");
    const sweep = follower.reconcile();
    await settled();
    service.hold(reference, null);
    requests.high.resolve();
    expect(await settle(clock, update)).toBe("unchanged");
    expect(service.reads.map(({ priority }) => priority)).toEqual(["high", "high"]);
    requests.low.resolve();
    expect(await settle(clock, sweep)).toMatchObject({ checked: 1, changed: 0 });
    expect(handed.map(({ held }) => held)).toEqual([false]);
  });

  it("leaves it to the sweep when its request fails", async () => {
    const { clock, service, orders, follower, handed } = await createFollowed(1);
    const [reference = first] = orders;
    const queued = Promise.withResolvers<void>();
    service.onRead = async ({ priority }) => {
      if (priority !== "low") throw new Error("no connection");
      await queued.promise;
      return undefined;
    };
    const sweep = follower.reconcile();
    await settled();
    await expect(follower.update(reference)).rejects.toThrow("no connection");
    queued.resolve();
    expect(await settle(clock, sweep)).toEqual({ checked: 1, changed: 1, gone: 0 });
    expect([service.reads.length, handed.length]).toEqual([2, 1]);
  });

  it.each(["the same", "another"])(
    "waits for the change that a sweep of %s process hands over, then reads the order itself",
    async (which) => {
      const gate = Promise.withResolvers<void>();
      const { clock, service, orders, follower, start, handed } = await createFollowed(1, {
        onChange: () => gate.promise,
      });
      const [reference = first] = orders;
      const sweep = follower.reconcile();
      await settled();
      service.ship(reference, [2]);
      const update = (which === "another" ? start() : follower).update(reference);
      await clock.advance(6_000);
      expect([service.reads.length, handed.length]).toEqual([1, 0]);
      gate.resolve();
      await settle(clock, Promise.all([sweep, update]));
      expect(handed.map(({ shipped }) => shipped[0])).toEqual([0, 2]);
    },
  );
});

/** A storage in which a lock is never renewed, so that it expires although its holder is working. */
const withoutRenewals = (storage: KeyValueStorage): KeyValueStorage => ({
  ...storage,
  // A renewal sets the value that the key holds.
  set: async (key, value, options) =>
    String(value) === String(options?.expected) ? false : storage.set(key, value, options),
});

describe("a process whose lock has expired in the storage", () => {
  it("finishes a change while a sweep of another process loads the order: the sweep does not hand it over again", async () => {
    const { clock, service, follower, storage, handed } = createWorld();
    await follower().update(first);
    service.ship(first, [3], [3]);
    const handling = Promise.withResolvers<void>();
    const options = { storage: withoutRenewals(storage), timeout: 60_000, onChange: () => handling.promise };
    const change = follower(options).update(first);
    await clock.advance(6_000);
    let loads = 0;
    const slow: KeyValueStorage = {
      ...storage,
      get: async (key) => {
        // The first time the sweep lists the due orders, the second time it loads the order.
        if (key.includes("follower:open:") && ++loads === 2) {
          handling.resolve();
          await change;
        }
        return storage.get(key);
      },
    };
    await settle(clock, follower({ storage: slow }).reconcile());
    expect(loads).toBeGreaterThan(1);
    expect(handed.slice(1).map(({ shipped }) => shipped)).toEqual([[3, 3]]);
  });

  it("still makes no two calls for one order at the same time", async () => {
    const world = createWorld();
    const gate = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const { update, reconcile } = world.follower({
      storage: withoutRenewals(world.storage),
      timeout: 60_000,
      onChange: async () => {
        running += 1;
        most = Math.max(most, running);
        await gate.promise;
        running -= 1;
      },
    });
    const updating = update(first);
    await settled();
    world.service.ship(first, [1]);
    const others = [update(first), reconcile()];
    await world.clock.advance(20_000);
    gate.resolve();
    await settle(world.clock, Promise.all([updating, ...others]));
    expect([most, world.handed.at(-1)?.shipped[0]]).toEqual([1, 1]);
  });
});

describe("sweeps of two processes at the same time", () => {
  it("share the orders: each is read once", async () => {
    const { clock, service, follower, start } = await createFollowed(40);
    service.onRead = async () => {
      await settled();
      return undefined;
    };
    const both = Promise.all([follower.reconcile({ concurrency: 4 }), start().reconcile({ concurrency: 4 })]);
    const results = await settle(clock, both);
    expect(service.reads).toHaveLength(40);
    expect(results.every(({ checked }) => checked > 5)).toBe(true);
    expect(results[0].checked + results[1].checked).toBe(40);
  });

  it("read each order once, also when its request waits for minutes in the queue of the client", async () => {
    const { clock, service, follower, start, handed } = await createFollowed(1);
    service.onRead = async () => {
      await new Promise<void>((resolve) => void clock.after(200_000, resolve));
      return undefined;
    };
    const first = follower.reconcile();
    await clock.advance(5_000);
    const others = [start().reconcile(), start().reconcile()];
    await settle(clock, Promise.all([first, ...others]), 3_000);
    expect(await first).toEqual({ checked: 1, changed: 1, gone: 0 });
    expect([service.reads.length, handed.length]).toEqual([1, 1]);
  });

  it("drop a response that comes after another sweep has taken the order of a suspended process", async () => {
    const { clock, service, orders, start, handed } = await createFollowed(1);
    const [reference = first] = orders;
    const suspended = Promise.withResolvers<void>();
    service.onRead = async () => {
      service.onRead = async () => undefined;
      const outdated = service.orders.get(reference);
      await suspended.promise;
      return outdated;
    };
    const stopped = { now: clock.now, after: () => () => undefined };
    const slow = start({ clock: stopped }).reconcile();
    await settled();
    service.hold(reference, "no stock");
    expect(await settle(clock, start().reconcile())).toEqual({ checked: 1, changed: 1, gone: 0 });
    suspended.resolve();
    expect(await slow).toEqual({ checked: 0, changed: 0, gone: 0 });
    expect(handed.map(({ held }) => held)).toEqual([true]);
  });

  it("read the orders of a sweep that was killed, after some seconds", async () => {
    const { clock, service, orders, start, handed } = await createFollowed(6);
    service.onRead = () => new Promise(() => undefined);
    const killed = { now: clock.now, after: () => () => undefined };
    void start({ clock: killed }).reconcile({ concurrency: 2 });
    await settled();
    expect(service.reads).toHaveLength(2);
    service.onRead = async () => undefined;
    const began = clock.now();
    await settle(clock, start().reconcile());
    expect(clock.now() - began).toBeLessThanOrEqual(6_100);
    expect(new Set(handed.map(({ reference }) => reference))).toEqual(new Set(orders));
  });

  it("read the orders of a sweep that was killed and whose clock was a year ahead", async () => {
    const { clock, service, orders, follower, start } = await createFollowed(2);
    service.onRead = () => new Promise(() => undefined);
    const ahead = { now: () => clock.now() + 31_536_000_000, after: clock.after };
    void start({ clock: ahead }).reconcile();
    await settled();
    expect(service.reads).toHaveLength(2);
    service.onRead = async () => undefined;
    const began = clock.now();
    expect(await settle(clock, follower.reconcile())).toEqual({ checked: orders.length, changed: 2, gone: 0 });
    expect(clock.now()).toBe(began);
  });

  it("are not stopped by a mark from a clock that was a year ahead", async () => {
    const { clock, service, follower, start } = await createFollowed(1);
    const ahead = { now: () => clock.now() + 31_536_000_000, after: clock.after };
    await start({ clock: ahead }).reconcile();
    await follower.reconcile();
    expect(service.reads).toHaveLength(2);
  });
});

describe("follower.follow", () => {
  it("sends no request, and does nothing for an order that is known", async () => {
    const { service, follower, keys } = createWorld();
    const { follow, update } = follower();
    await follow(first);
    await follow(first);
    expect([service.reads, await keys()]).toEqual([[], [`open:${first}`]]);
    service.ship(first, [3], [3]);
    await update(first);
    await follow(first);
    expect(await keys()).toEqual([`order:${first}`]);
  });

  it("is also done by the first news of an order, even if its handler fails", async () => {
    const { follower, handed } = createWorld();
    let failures = 1;
    const { update, reconcile } = follower({
      onChange: () => {
        if (failures-- > 0) throw new Error("failed once");
      },
    });
    await expect(update(second)).rejects.toThrow("failed once");
    expect(await reconcile()).toEqual({ checked: 1, changed: 1, gone: 0 });
    expect(handed.map(({ reference }) => reference)).toEqual([second]);
  });

  it("forgets a completed order after `keepFor`", async () => {
    const { clock, service, follower, keys } = createWorld();
    service.ship(first, [3], [3]);
    await follower({ keepFor: 1_000 }).update(first);
    await follower().update(second);
    expect(await keys()).toEqual([`open:${second}`, `order:${first}`, `order:${second}`]);
    await clock.advance(1_001);
    expect(await keys()).toEqual([`open:${second}`, `order:${second}`]);
  });
});
