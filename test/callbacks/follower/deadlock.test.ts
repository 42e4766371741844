import { DeadlineError } from "pod-partner";
import { createOrderUpdatedReceiver, type OrderFollower } from "pod-partner/callbacks";
import { expect, it } from "vitest";
import { callbackUrl, createReader, createReceiver, settled, token } from "../support.ts";
import { createWorld, first, newOrder, second, settle } from "./support.ts";

const calls: Readonly<Record<string, (follower: OrderFollower) => Promise<unknown>>> = {
  "`update` of its own order": ({ update }) => update(first),
  "`reconcile`": ({ reconcile }) => reconcile(),
  "`close`": ({ close }) => close(),
};

it.each(Object.entries(calls))("a handler that waits for %s ends at the `timeout`", async (_, call) => {
  const { clock, follower, handed } = createWorld();
  const began = clock.now();
  let waits: Promise<unknown> | undefined;
  const own: OrderFollower = follower({
    onChange: () => {
      if (waits !== undefined) return undefined;
      waits = call(own);
      return waits;
    },
  });
  const error = await settle(clock, own.update(first)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DeadlineError);
  expect(String(error)).toContain("A handler must not wait for its own receiver or follower.");
  expect(clock.now() - began).toBeLessThanOrEqual(10_100);
  await settle(clock, Promise.allSettled([waits]));
  await settle(clock, follower().update(first));
  expect(handed.length).toBeGreaterThan(0);
  expect(clock.pending).toBe(0);
});

it("a handler can wait for another order, for another follower, and for its own in the receiver", async () => {
  const world = createWorld();
  const other = createWorld();
  const elsewhere = other.follower();
  const own: OrderFollower = world.follower({
    onChange: async ({ order }) => {
      if (order.reference === first) await Promise.all([own.update(second), elsewhere.update(first)]);
    },
  });
  const receiver = createOrderUpdatedReceiver({
    partner: createReader(async () => newOrder(first)),
    token,
    onOrderUpdated: ({ orderReference }) => own.update(orderReference),
  });
  expect((await receiver.fetch(new Request(callbackUrl()))).status).toBe(204);
  expect(world.handed.map(({ reference }) => reference)).toEqual([second, first]);
  expect(other.handed).toHaveLength(1);
});

it("a chain of handlers that ends at the first one ends at the `timeout`", async () => {
  const { clock, follower } = createWorld();
  const own: OrderFollower = follower({
    onChange: ({ order }) => own.update(order.reference === first ? second : first),
  });
  await expect(settle(clock, own.update(first))).rejects.toBeInstanceOf(DeadlineError);
});

it("a receiver's handler that waits for `close` or for a callback of its own order ends at the `timeout`", async () => {
  const { clock } = createWorld();
  const ends: string[] = [];
  const { receiver, receive, failures } = createReceiver({
    clock,
    onOrderUpdated: async () => {
      const again = await receiver.fetch(new Request(callbackUrl()));
      ends.push(`callback: ${again.status}`);
      await receiver.close();
      ends.push("close");
    },
  });
  expect((await settle(clock, receive())).status).toBe(503);
  await settled();
  expect(failures).toMatchObject([
    { orderReference: first, error: { fault: "busy" }, status: 503 },
    { orderReference: first, error: expect.any(DeadlineError), status: 503 },
  ]);
  await settle(clock, receiver.close());
  await settled();
  expect(ends.at(-1)).toBe("close");
});
