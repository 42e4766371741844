import type { Order } from "pod-partner";
import { createOrderUpdatedReceiver, ReconcileError } from "pod-partner/callbacks";
import { describe, expect, it } from "vitest";
import { callbackUrl, createReader, token } from "../support.ts";
import { createWorld, first, newOrder, second, settle, withTotals } from "./support.ts";

/** An order of which two units were shipped and one was canceled, on hold. */
const now: Order = {
  ...withTotals(newOrder(first), [2, 0], [0, 1]),
  status: { code: "partially_shipped" },
  onHold: { reason: "no stock" },
};
const older: Readonly<Record<string, Order>> = {
  "with fewer shipped units": { ...withTotals(now, [1, 0], [0, 1]), status: { code: "created" }, onHold: null },
  "with fewer canceled units": { ...withTotals(now, [2, 0], [0, 0]), status: { code: "created" } },
  "with fewer units in one line and more in another": { ...withTotals(now, [1, 0], [3, 0]), onHold: null },
  "without a line": { ...now, orderlines: now.orderlines.slice(0, 1), status: { code: "created" } },
};

/** A world in which `now` was handed over. */
async function createHandedOver() {
  const world = createWorld();
  world.service.orders.set(first, now);
  const own = world.follower();
  await own.update(first);
  world.handed.length = 0;
  world.service.reads.length = 0;
  return { ...world, own };
}

describe.each(Object.entries(older))("nothing of a response %s counts", (_, response) => {
  it.each(["the process that handed over more", "another process"])("in an update of %s", async (which) => {
    const { clock, service, follower, handed, own } = await createHandedOver();
    const { update } = which === "another process" ? follower() : own;
    service.onRead = async () => response;
    const refused = expect(settle(clock, update(first))).rejects.toMatchObject({
      name: "OrderFollowerError",
      fault: "outdated",
      isRetryable: true,
    });
    await refused;
    expect(service.reads).toHaveLength(4);
    expect(handed).toEqual([]);
    service.onRead = async () => undefined;
    await update(first);
    expect(handed).toEqual([]);
  });

  it.each(["the process that handed over more", "another process"])("in a sweep of %s", async (which) => {
    const { clock, service, follower, handed, own } = await createHandedOver();
    const { reconcile } = which === "another process" ? follower() : own;
    await clock.advance(1_000);
    await own.follow(second);
    service.onRead = async ({ reference }) => (reference === first ? response : undefined);
    const error = await settle(clock, reconcile()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ReconcileError);
    expect(error).toMatchObject({
      failures: [{ orderReference: first, error: { fault: "outdated" } }],
      result: { checked: 1, changed: 1, gone: 0 },
    });
    expect(handed.map(({ reference }) => reference)).toEqual([second]);
    service.onRead = async () => undefined;
    service.change(first, (order) => ({ ...order, onHold: null }));
    await settle(clock, reconcile());
    expect(handed.at(-1)?.changes).toEqual([{ kind: "released" }]);
  });

  it("when a replica is up to date a moment later: the change is handed over by the same call", async () => {
    const { clock, service, handed, own } = await createHandedOver();
    service.ship(first, [3, 0], [0, 1]);
    const responses = [response, response];
    service.onRead = async () => responses.shift();
    await settle(clock, own.update(first));
    expect(handed.map(({ changes }) => changes)).toEqual([[{ kind: "shipped", index: 1, from: 2, to: 3 }]]);
  });

  it("when the handler of more units has failed, also in another process", async () => {
    const { clock, service, follower, handed } = createWorld();
    service.orders.set(first, now);
    const failing = follower({
      onChange: () => {
        throw new Error("the database is not available");
      },
    });
    await expect(failing.update(first)).rejects.toThrow("the database");
    service.onRead = async () => response;
    const refused = expect(settle(clock, follower().update(first))).rejects.toMatchObject({ fault: "outdated" });
    await refused;
    service.onRead = async () => undefined;
    await follower().update(first);
    expect(handed.map(({ shipped, held }) => [shipped, held])).toEqual([[[2, 0], true]]);
  });
});

it("a callback is a 503 while the service returns an older order, and its change comes with the next one", async () => {
  const { clock, service, follower, handed } = createWorld();
  const { update } = follower();
  service.orders.set(first, now);
  await update(first);
  service.ship(first, [3, 0], [0, 1]);
  service.onRead = async () => older["with fewer shipped units"];
  const receiver = createOrderUpdatedReceiver({
    partner: createReader(async () => now),
    token,
    clock,
    onOrderUpdated: ({ orderReference }) => update(orderReference),
    onError: () => undefined,
  });
  const receive = async () => (await settle(clock, receiver.fetch(new Request(callbackUrl())))).status;
  expect(await receive()).toBe(503);
  expect(handed).toHaveLength(1);
  service.onRead = async () => undefined;
  expect(await receive()).toBe(204);
  expect(handed.at(-1)?.changes).toEqual([{ kind: "shipped", index: 1, from: 2, to: 3 }]);
});
