import { DeadlineError } from "pod-partner";
import { createOrderUpdatedReceiver, DeadlockError, type OrderFollower } from "pod-partner/callbacks";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { callbackUrl, createReader, createReceiver, settled, token } from "../support.ts";
import { createWorld, first, newOrder, second, settle } from "./support.ts";

const calls: Readonly<Record<string, (follower: OrderFollower) => Promise<unknown>>> = {
  "`update` of its own order": ({ update }) => update(first),
  "`reconcile`": ({ reconcile }) => reconcile(),
  "`close`": ({ close }) => close(),
};

describe.each(Object.entries(calls))("a handler that waits for %s", (name, call) => {
  it("is refused at once, and the next call is not busy", async () => {
    const { clock, follower, handed } = createWorld();
    const began = clock.now();
    let waits = true;
    const own: OrderFollower = follower({ onChange: () => (waits ? call(own) : undefined) });
    const error = await own.update(first).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DeadlockError);
    expect(error).toMatchObject({ name: "DeadlockError", isRetryable: false });
    expect(String(error)).toContain(`${name.slice(0, 7)}`);
    expect(String(error)).toContain(first);
    waits = false;
    await own.update(first);
    expect(handed).toHaveLength(1);
    expect([clock.now(), clock.pending]).toEqual([began, 0]);
  });

  it("is refused in a sweep, too, and later in the handler", async () => {
    const { follower } = createWorld();
    const errors: unknown[] = [];
    const own: OrderFollower = follower({
      onChange: async () => {
        await settled();
        await call(own).catch((error: unknown) => errors.push(error));
      },
    });
    await own.follow(first);
    await own.reconcile();
    expect(errors).toEqual([expect.any(DeadlockError)]);
  });

  it("can make the call when the handler has finished, from code that it left running", async () => {
    const { clock, follower, handed } = createWorld();
    const gate = Promise.withResolvers<void>();
    let later: Promise<unknown> | undefined;
    const own: OrderFollower = follower({
      onChange: () => {
        later ??= gate.promise.then(() => call(own));
      },
    });
    await own.update(first);
    gate.resolve();
    await settle(clock, later ?? expect.fail("the handler was not called"));
    expect(handed).toHaveLength(1);
  });
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

it("a chain of handlers that ends at the first one is refused", async () => {
  const { follower } = createWorld();
  const own: OrderFollower = follower({
    onChange: ({ order }) => own.update(order.reference === first ? second : first),
  });
  await expect(own.update(first)).rejects.toBeInstanceOf(DeadlockError);
});

it("a receiver's handler that waits for `close` or for a callback of its own order is refused at once", async () => {
  const errors: unknown[] = [];
  const { receiver, receive, failures } = createReceiver({
    onOrderUpdated: async () => {
      await receiver.close().catch((error: unknown) => errors.push(error));
      expect((await receiver.fetch(new Request(callbackUrl()))).status).toBe(503);
    },
  });
  expect((await receive()).status).toBe(204);
  expect(errors).toEqual([expect.any(DeadlockError)]);
  expect(failures).toMatchObject([{ orderReference: first, error: expect.any(DeadlockError), status: 503 }]);
  await receiver.close();
});

it.each(["has no async_hooks", "throws when it is asked"])(
  "on a platform that %s, the message of the time-out names the cause",
  async (platform) => {
    vi.resetModules();
    vi.spyOn(process, "getBuiltinModule").mockImplementation(() => {
      if (platform.startsWith("throws")) throw new Error("not supported");
      return undefined;
    });
    onTestFinished(() => {
      vi.restoreAllMocks();
      vi.resetModules();
    });
    const { createOrderFollower } = await import("pod-partner/callbacks");
    const { clock, service, storage } = createWorld();
    const own: OrderFollower = createOrderFollower({
      partner: service.client,
      storage,
      clock,
      onChange: () => own.reconcile(),
    });
    const error = await settle(clock, own.update(first)).catch((thrown: unknown) => thrown);
    expect(DeadlineError.isInstance(error)).toBe(true);
    expect(String(error)).toContain("A handler must not wait for its own receiver or follower.");
  },
);
