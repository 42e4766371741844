import { DeadlineError, memoryStorage, PodPartner, RequestValidationError, ResponseValidationError } from "pod-partner";
import {
  createOrderFollower,
  createOrderUpdatedReceiver,
  type OrderFollower,
  type OrderFollowerOptions,
  type OrderUpdated,
} from "pod-partner/callbacks";
import { createEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import type { OrderUpdatedFailure } from "../../../src/callbacks/options.ts";
import { ref } from "../../support/references.ts";
import { callbackUrl, createReader, settled, token } from "../support.ts";
import { createWorld, first, newOrder, notFound, second, settle, withTotals } from "./support.ts";

describe("follower.update", () => {
  it("reads with high priority and a deadline, once for calls that wait at the same time", async () => {
    const { service, follower } = createWorld();
    const { update } = follower({ timeout: 5_000 });
    await Promise.all([update(first), update(first), update(first)]);
    const reads = service.reads.map(({ priority, deadline }) => ({ priority, deadline }));
    expect(reads).toEqual([{ priority: "high", deadline: 5_000 }]);
  });

  it("reads again for calls that come after its request, once for all of them", async () => {
    const { clock, service, follower, handed } = createWorld();
    const { update } = follower();
    const response = Promise.withResolvers<void>();
    service.onRead = async () => {
      const now = service.orders.get(first);
      await response.promise;
      return now;
    };
    const calls = [update(first)];
    await settled();
    service.ship(first, [1]);
    calls.push(update(first), update(first));
    await settled();
    response.resolve();
    expect(await settle(clock, Promise.all(calls))).toEqual(["changed", "changed", "changed"]);
    expect([service.reads.length, handed.map(({ shipped }) => shipped[0])]).toEqual([2, [0, 1]]);
  });

  it("rejects with the error of the handler, and hands the same change over again", async () => {
    const { service, follower, handed, kinds } = createWorld();
    const failure = new Error("the database is not available");
    let failures = 2;
    const { update } = follower({
      onChange: () => {
        if (failures-- > 0) throw failure;
      },
    });
    service.ship(first, [1]);
    await expect(update(first)).rejects.toBe(failure);
    service.ship(first, [2]);
    await expect(update(first)).rejects.toBe(failure);
    await update(first);
    expect(kinds()).toEqual([["shipped", "status"]]);
    expect(handed[0]?.changes[0]).toEqual({ kind: "shipped", index: 1, from: 0, to: 2 });
  });

  it("remembers nothing before the handler has finished", async () => {
    const { follower, kinds } = createWorld();
    const gate = Promise.withResolvers<void>();
    const slow = follower({ onChange: () => gate.promise });
    const running = slow.update(first);
    await settled();
    expect(kinds()).toEqual([]);
    gate.reject(new Error("killed"));
    await expect(running).rejects.toThrow("killed");
    await follower().update(first);
    expect(kinds()).toEqual([["status"]]);
  });

  it("never runs two changes of one order at the same time, and those of two orders side by side", async () => {
    const { clock, service, follower, handed } = createWorld();
    const running: string[] = [];
    let most = 0;
    const { update } = follower({
      onChange: async ({ order }) => {
        expect(running).not.toContain(order.reference);
        running.push(order.reference);
        most = Math.max(most, running.length);
        await settled();
        running.splice(running.indexOf(order.reference), 1);
      },
    });
    const updates = [update(first), update(second)];
    await settled();
    service.ship(first, [1]);
    updates.push(update(first), update(second));
    await settle(clock, Promise.all(updates));
    expect([most, handed.length]).toEqual([2, 3]);
  });

  it("rejects with a DeadlineError when the handler takes longer than `timeout`, and aborts its signal", async () => {
    const { clock, follower, kinds } = createWorld();
    const reasons: unknown[] = [];
    const never = new Promise<void>(() => undefined);
    const { update } = follower({
      timeout: 1_000,
      onChange: ({ signal }) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        return never;
      },
    });
    const running = update(first);
    const refused = expect(running).rejects.toBeInstanceOf(DeadlineError);
    await settle(
      clock,
      running.catch(() => undefined),
    );
    await refused;
    expect(reasons).toHaveLength(1);
    await follower().update(first);
    expect(kinds()).toEqual([["status"]]);
    expect(clock.pending).toBe(0);
  });

  it("rejects with the error of the request, and remembers nothing", async () => {
    const { service, follower, kinds } = createWorld();
    const failure = new Error("no connection");
    service.onRead = async () => {
      throw failure;
    };
    const { update } = follower();
    await expect(update(first)).rejects.toBe(failure);
    service.onRead = async () => undefined;
    await update(first);
    expect(kinds()).toEqual([["status"]]);
  });

  it("rejects for an order without the fields that it compares, as a client that only reports invalid responses returns it", async () => {
    const { service, follower, handed } = createWorld();
    const { update } = follower();
    for (const fields of [{ orderlines: [{ index: 1 }] }, { orderlines: null }]) {
      service.onRead = async () => ({ ...newOrder(first), ...fields }) as never;
      await expect(update(first)).rejects.toBeInstanceOf(ResponseValidationError);
    }
    expect(handed).toEqual([]);
  });

  it("refuses an invalid reference before it sends a request", async () => {
    const { service, follower } = createWorld();
    const { update, follow } = follower();
    for (const call of [update, follow]) {
      await expect(call(ref("Product", "1") as never)).rejects.toBeInstanceOf(RequestValidationError);
    }
    expect(service.reads).toEqual([]);
  });

  it("is refused after `close`, which waits for the changes in work", async () => {
    const { follower, handed } = createWorld();
    const gate = Promise.withResolvers<void>();
    const { update, follow, reconcile, close } = follower({ onChange: () => gate.promise });
    const running = update(first);
    await settled();
    let closed = false;
    const closing = close().then(() => {
      closed = true;
    });
    await settled();
    expect(closed).toBe(false);
    for (const call of [update(first), follow(first), reconcile()]) {
      await expect(call).rejects.toMatchObject({ name: "OrderFollowerError", fault: "closed", isRetryable: true });
    }
    gate.resolve();
    await Promise.all([running, closing]);
    expect(handed).toHaveLength(1);
  });
});

it("follows an order whose status has the code null", async () => {
  const { service, follower, handed } = createWorld();
  const { update } = follower();
  const order = { ...newOrder(first), status: { code: null } };
  service.orders.set(first, order);
  expect(await update(first)).toBe("changed");
  expect(await update(first)).toBe("unchanged");
  expect(handed).toHaveLength(1);
});

describe("an order that the service no longer has", () => {
  it("is reported once, with its last state, and `update` resolves", async () => {
    const { clock, service, follower, gone, keys } = createWorld();
    const previous: unknown[] = [];
    const { update } = follower({
      onGone: (one) => {
        gone.push(one.orderReference);
        previous.push(one.previous?.statusCode);
        expect(one.error).toMatchObject({ status: 404, code: "not_found" });
      },
    });
    await settle(clock, update(first));
    service.orders.delete(first);
    await settle(clock, update(first));
    await settle(clock, update(first));
    expect([gone, previous]).toEqual([[first], ["accepted"]]);
    expect(await keys()).toEqual([`order:${first}`]);
  });

  it.each([
    [10_000, 3_000],
    [60_000, 3_000],
    [3_000, 900],
  ])("is read four times before it counts as gone, with a `timeout` of %i ms within %i ms", async (timeout, within) => {
    const { clock, service, follower } = createWorld();
    const { update } = follower({ timeout });
    await update(first);
    service.orders.delete(first);
    const began = clock.now();
    expect(await settle(clock, update(first))).toBe("gone");
    expect([clock.now() - began, service.reads.length]).toEqual([within, 5]);
  });

  it("is not gone when a read replica does not show it for a moment", async () => {
    const { clock, service, follower, gone, kinds } = createWorld();
    const { update, reconcile } = follower();
    await update(first);
    let missing = 3;
    service.onRead = async () => {
      if (missing-- > 0) throw notFound();
      return undefined;
    };
    expect(await settle(clock, update(first))).toBe("unchanged");
    missing = 1;
    await settle(clock, reconcile());
    service.ship(first, [2]);
    await clock.advance(1_000);
    await settle(clock, reconcile());
    expect([gone, kinds().length]).toEqual([[], 2]);
  });

  it("is reported again after a failure of `onGone`", async () => {
    const { clock, service, follower, gone } = createWorld();
    let failures = 1;
    const { update } = follower({
      onGone: ({ orderReference }) => {
        if (failures-- > 0) throw new Error("failed once");
        gone.push(orderReference);
      },
    });
    await settle(clock, update(first));
    service.orders.delete(first);
    await expect(settle(clock, update(first))).rejects.toThrow("failed once");
    await settle(clock, update(first));
    expect(gone).toEqual([first]);
  });

  it("is not gone when a gateway responds with a 404 without a code", async () => {
    const { service, follower, gone } = createWorld();
    const { update } = follower();
    await update(first);
    service.onRead = async () => {
      throw notFound("");
    };
    service.onRead = async () => {
      const error = notFound();
      Object.defineProperty(error, "code", { value: undefined });
      throw error;
    };
    await expect(update(first)).rejects.toMatchObject({ status: 404 });
    expect(gone).toEqual([]);
  });

  it("is neither reported nor remembered if it is not followed: any program can invent a reference", async () => {
    const { service, follower, gone, keys } = createWorld();
    service.orders.clear();
    await follower().update(first);
    expect([gone, await keys()]).toEqual([[], []]);
  });

  it("is not gone in the first hour after `follow`: the service may not show it yet", async () => {
    const { clock, service, follower, gone, kinds } = createWorld();
    service.orders.delete(first);
    const { follow, update } = follower();
    await follow(first);
    await settle(clock, update(first));
    expect(gone).toEqual([]);
    service.orders.set(first, newOrder(first));
    await settle(clock, update(first));
    expect(kinds()).toEqual([["status"]]);

    service.orders.delete(second);
    await follow(second);
    await clock.advance(3_600_001);
    await settle(clock, update(second));
    expect(gone).toEqual([second]);
  });

  it("is not gone because the machine's clock steps forward by a day", async () => {
    const { clock, service, follower, gone } = createWorld();
    service.orders.delete(first);
    let step = 0;
    const stepping = { now: clock.now, date: () => clock.now() + step, after: clock.after };
    const { follow, update } = follower({ clock: stepping });
    await follow(first);
    step = 86_400_000;
    expect(await settle(clock, update(first))).toBe("missing");
    await clock.advance(3_600_001);
    expect(await settle(clock, update(first))).toBe("gone");
    expect(gone).toEqual([first]);
  });

  it("is followed again if the service has it again", async () => {
    const { clock, service, follower, keys, handed } = createWorld();
    const { update } = follower();
    await settle(clock, update(first));
    const order = service.orders.get(first);
    service.orders.delete(first);
    await settle(clock, update(first));
    if (order !== undefined) service.orders.set(first, order);
    await settle(clock, update(first));
    expect(handed).toHaveLength(1);
    expect(await keys()).toEqual([`open:${first}`, `order:${first}`]);
  });
});

/** How a receiver is joined to a follower: by the option, which costs one request, or by its handler, with one of its own. */
const joined = {
  "as its option": (follower: OrderFollower) => ({ follower }),
  "in its handler": ({ update }: OrderFollower) => ({
    partner: createReader(async () => newOrder(first)),
    onOrderUpdated: ({ orderReference }: OrderUpdated) => update(orderReference),
  }),
};

describe.each(Object.entries(joined))("a receiver with a follower %s", (_, join) => {
  const createReceiving = (world: ReturnType<typeof createWorld>, options: Partial<OrderFollowerOptions> = {}) => {
    const failures: unknown[] = [];
    const receiver = createOrderUpdatedReceiver({
      ...join(world.follower(options)),
      token,
      clock: world.clock,
      onError: (failure) => failures.push(failure),
    });
    const receive = async () => (await settle(world.clock, receiver.fetch(new Request(callbackUrl())))).status;
    return { receiver, receive, failures };
  };

  it("responds with 503 when the handler fails, and with 204 when it has finished", async () => {
    const world = createWorld();
    let failing = true;
    const { receive, failures } = createReceiving(world, {
      onChange: () => {
        if (failing) throw new Error("failed");
      },
    });
    expect(await receive()).toBe(503);
    expect(failures).toMatchObject([{ orderReference: first, error: new Error("failed"), status: 503 }]);
    failing = false;
    expect(await receive()).toBe(204);
    expect(world.kinds()).toEqual([["status"]]);
    expect(world.service.reads).toHaveLength(2);
  });

  it("responds with 204 for an order that is gone", async () => {
    const world = createWorld();
    await world.follower().update(first);
    world.service.orders.delete(first);
    const { receive, failures } = createReceiving(world);
    expect(await receive()).toBe(204);
    expect([world.gone, failures]).toEqual([[first], []]);
  });

  it("responds with 503 while the storage is lost", async () => {
    const world = createWorld();
    const lost = { ...world.storage, get: () => Promise.reject(new Error("lost")) };
    const { receive, failures } = createReceiving(world, { storage: lost });
    expect(await receive()).toBe(503);
    expect(failures).toMatchObject([{ error: { name: "OrderFollowerError", fault: "storage", isRetryable: true } }]);
  });

  it("responds with 503 after the `timeout`", async () => {
    const world = createWorld();
    const { receive, failures } = createReceiving(world, {
      timeout: 60_000,
      onChange: () => new Promise(() => undefined),
    });
    expect(await receive()).toBe(503);
    expect(failures).toMatchObject([{ error: { name: "DeadlineError" } }]);
  });
});

describe("a receiver that feeds a follower", () => {
  it("costs one request for each callback, also with the client and the service", async () => {
    const handed: unknown[] = [];
    let reads = 0;
    const emulator = createEmulator({ seed: { orders: [{ orderlines: [{ quantity: 3 }] }] } });
    const partner = new PodPartner({
      ...emulator.clientOptions,
      fetch: (input, init) => {
        reads += 1;
        return emulator.fetch(input as Request, init);
      },
    });
    const follower = createOrderFollower({
      partner,
      storage: memoryStorage(),
      onChange: ({ changes }) => handed.push(changes.map(({ kind }) => kind)),
    });
    const receiver = createOrderUpdatedReceiver({ follower, token });
    const [reference = first] = emulator.world().organizations[0]?.orders.map((order) => order.reference) ?? [];
    for (let unit = 0; unit < 3; unit += 1) {
      emulator.ship(reference, { lines: [{ index: 1, quantity: 1 }] });
      const response = await receiver.fetch(new Request(callbackUrl({ order_reference_v2: reference })));
      expect(response.status).toBe(204);
    }
    expect(handed).toEqual([["shipped", "status"], ["shipped"], ["shipped", "completed", "status"]]);
    expect(reads).toBe(3);
  });

  it("follows an order that the service does not show yet, and receives a 503, with the token", async () => {
    const world = createWorld();
    world.service.orders.clear();
    const follower = world.follower();
    const failures: OrderUpdatedFailure[] = [];
    const { clock } = world;
    const receiver = createOrderUpdatedReceiver({ follower, token, clock, onError: (one) => failures.push(one) });
    const receive = async (reference: typeof first) =>
      (await receiver.fetch(new Request(callbackUrl({ order_reference_v2: reference })))).status;
    expect([await receive(first), await receive(second)]).toEqual([503, 503]);
    expect(failures[0]).toMatchObject({ error: { name: "OrderFollowerError", fault: "missing" }, status: 503 });
    // The repeated callback and a sweep find it.
    world.service.orders.set(first, newOrder(first));
    await clock.advance(1);
    expect(await settle(clock, follower.reconcile())).toMatchObject({ checked: 2, changed: 1 });
    expect(await receive(first)).toBe(204);
    expect(world.handed).toHaveLength(1);
    // The other one is of another organization: its callbacks end, also when each meets a new receiver.
    const statuses: number[] = [];
    for (let callback = 0; callback < 15; callback += 1) {
      await clock.advance(5 * 60_000);
      const other = createOrderUpdatedReceiver({ follower: world.follower(), token, clock, onError: () => undefined });
      const request = new Request(callbackUrl({ order_reference_v2: second }));
      statuses.push((await settle(clock, other.fetch(request))).status);
    }
    expect(statuses.slice(0, 11)).toEqual(Array(11).fill(503));
    expect(statuses.slice(-3)).toEqual([204, 204, 204]);
  });

  it("acknowledges and reports an order that does not exist, and reads only a limited number of them", async () => {
    const world = createWorld();
    world.service.orders.clear();
    const failures: OrderUpdatedFailure[] = [];
    const receiver = createOrderUpdatedReceiver({
      follower: world.follower(),
      token: false,
      clock: world.clock,
      onError: (failure) => failures.push(failure),
    });
    const receive = async (number: number) => {
      const reference = ref("Order", String(number));
      return (await receiver.fetch(new Request(callbackUrl({ order_reference_v2: reference })))).status;
    };
    for (let number = 0; number < 100; number += 1) expect(await receive(number)).toBe(204);
    expect(await receive(100)).toBe(503);
    expect([world.service.reads.length, failures.length, await world.keys()]).toEqual([100, 100, []]);
    expect(failures[0]).toMatchObject({ error: { name: "OrderFollowerError", fault: "missing" }, status: 204 });
    world.service.orders.set(first, newOrder(first));
    await world.clock.advance(1_000);
    expect(await receive(1)).toBe(204);
    expect(world.handed).toHaveLength(1);
  });
});

/** Fields that change and change back, and the change that the end is. */
const passing = [
  ["a hold", { onHold: { reason: "no stock" } }, { kind: "released" }],
  ["a status", { status: { code: "in_production" } }, { kind: "status", from: "in_production", to: "accepted" }],
  [
    "an address",
    { dropshipAddressReference: ref("Address", "2") },
    { kind: "addressReplaced", from: ref("Address", "2"), to: ref("Address", "1") },
  ],
  ["another field", { carrierNote: "new" }, { kind: "other" }],
] as const;

/** A follower whose handlers fail while the test says so. The order was handed over once. */
async function createFailing(order = newOrder(first)) {
  const world = createWorld();
  world.service.orders.set(first, order);
  const handlers = { fail: false };
  const handle = () => {
    if (handlers.fail) throw new Error("killed");
  };
  const { update } = world.follower({ onChange: handle, onGone: handle });
  await settle(world.clock, update(first));
  /** Changes the order, and calls a handler that fails. */
  const failAfter = async (fields: object) => {
    handlers.fail = true;
    world.service.change(first, (now) => ({ ...now, ...fields }));
    await expect(update(first)).rejects.toThrow("killed");
    handlers.fail = false;
  };
  return { ...world, update, handlers, failAfter };
}

describe("a change whose handler has failed, and may have had its effect", () => {
  it.each(passing)("is followed by its end: %s", async (_, fields, end) => {
    const { service, update, handed, failAfter } = await createFailing();
    await failAfter(fields);
    service.orders.set(first, newOrder(first));
    await update(first);
    expect(handed.slice(1).map(({ changes }) => changes)).toEqual([[end]]);
    await update(first);
    expect(handed).toHaveLength(2);
  });

  it.each(passing)(
    "is followed by its end, also when the handler of the end has failed: %s",
    async (_, fields, { kind }) => {
      const { update, kinds, failAfter } = await createFailing();
      await failAfter(fields);
      for (const _again of [1, 2]) await failAfter({ carrierNote: undefined, ...newOrder(first) });
      expect(await update(first)).toBe("changed");
      expect(await update(first)).toBe("unchanged");
      expect(kinds().slice(1)).toEqual([[kind]]);
    },
  );

  it.each([...passing, ["the end of a hold", { onHold: null }, { kind: "held" }] as const])(
    "is followed by its end, also when the handler of an earlier change has failed before it: %s",
    async (name, fields, { kind }) => {
      const onHold = name === "the end of a hold" ? { reason: "no stock" } : null;
      const { service, update, kinds, failAfter } = await createFailing({ ...newOrder(first), onHold });
      const { orderlines } = withTotals(newOrder(first), [1]);
      await failAfter({ orderlines });
      await failAfter(fields);
      service.orders.set(first, { ...newOrder(first), onHold, orderlines });
      await update(first);
      expect(kinds().slice(1)).toEqual([["shipped", kind]]);
    },
  );

  it("is followed by its end, also when the order was gone and the handlers of both have failed", async () => {
    const { clock, service, update, kinds, handlers, failAfter } = await createFailing();
    await failAfter({ onHold: { reason: "no stock" } });
    handlers.fail = true;
    service.orders.delete(first);
    await expect(settle(clock, update(first))).rejects.toThrow("killed");
    service.orders.set(first, newOrder(first));
    handlers.fail = false;
    await settle(clock, update(first));
    expect(kinds()).toEqual([["status"], ["released"]]);
  });

  it("counts as found: the order is gone when the service does not have it then", async () => {
    const { clock, service, follower, handed, gone } = createWorld();
    const { follow, update } = follower({
      onChange: () => {
        throw new Error("killed");
      },
    });
    await follow(first);
    service.ship(first, [2]);
    await expect(settle(clock, update(first))).rejects.toThrow("killed");
    service.orders.delete(first);
    expect(await settle(clock, update(first))).toBe("gone");
    expect([gone, handed]).toEqual([[first], []]);
  });

  it("is followed by its end when the order was new", async () => {
    const { service, follower, kinds } = createWorld();
    let failures = 1;
    const { follow, reconcile } = follower({
      onChange: () => {
        if (failures-- > 0) throw new Error("killed");
      },
    });
    await follow(first);
    service.hold(first, "no stock");
    await expect(reconcile()).rejects.toThrow("killed");
    service.hold(first, null);
    await reconcile();
    expect(kinds()).toEqual([["status", "released"]]);
  });
});
