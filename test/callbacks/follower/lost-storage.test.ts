import type { KeyValueStorage } from "pod-partner";
import { describe, expect, it } from "vitest";
import { ScopedStorage } from "../../../src/storage/scoped-storage.ts";
import { toJson } from "../../../src/storage/values.ts";
import { settled } from "../support.ts";
import { createWorld, first, second, settle } from "./support.ts";

const isState = (key: string) => key.includes("follower:order:");

describe("a follower whose storage fails", () => {
  it("rejects with a typed error after the handler, and hands the change over again", async () => {
    const { storage, follower, handed } = createWorld();
    let failing = true;
    const flaky: KeyValueStorage = {
      ...storage,
      set: async (key, value, options) => {
        if (failing && isState(key)) throw new Error("the disk is full");
        return storage.set(key, value, options);
      },
    };
    const { update } = follower({ storage: flaky });
    await expect(update(first)).rejects.toMatchObject({
      fault: "storage",
      isRetryable: true,
      message: expect.stringContaining("the disk is full"),
    });
    failing = false;
    await update(first);
    expect(handed).toHaveLength(2);
    expect(handed[1]?.changes).toEqual(handed[0]?.changes);
  });

  it("does not call the handler when it cannot take the lock", async () => {
    const { storage, follower, handed, service } = createWorld();
    const { update } = follower({ storage: { ...storage, set: () => Promise.reject(new Error("read only")) } });
    await expect(update(first)).rejects.toMatchObject({ fault: "storage" });
    expect([handed, service.reads]).toEqual([[], []]);
  });

  it("rejects after some seconds when the storage does not respond", async () => {
    const { clock, storage, follower } = createWorld();
    const { update, follow } = follower({ storage: { ...storage, get: () => new Promise(() => undefined) } });
    const began = clock.now();
    const calls = [update(first), follow(second)].map((call) =>
      expect(call).rejects.toMatchObject({ fault: "storage" }),
    );
    await settle(clock, Promise.all(calls));
    expect(clock.now() - began).toBeLessThanOrEqual(5_100);
  });

  it.each(["update", "reconcile"] as const)(
    "is not busy with itself when a locked storage makes a change after `%s` has given up",
    async (call) => {
      const { clock, storage, follower, kinds } = createWorld();
      await follower().follow(first);
      const locked = Promise.withResolvers<void>();
      // Like a file that another process locks: reads go on, changes wait in their order.
      let changes: Promise<unknown> = locked.promise;
      const queued = <Result>(change: () => Promise<Result>): Promise<Result> => {
        const result = changes.then(change);
        changes = result;
        return result;
      };
      const slow = follower({
        storage: {
          ...storage,
          set: (key, value, options) => queued(() => storage.set(key, value, options)),
          delete: (key, options) => queued(() => storage.delete(key, options)),
        },
      });
      const run = async () => void (await (call === "update" ? slow.update(first) : slow.reconcile()));
      const refused = expect(settle(clock, run())).rejects.toMatchObject({ fault: "storage" });
      await refused;
      locked.resolve();
      await settled();
      const unlocked = clock.now();
      await settle(clock, run());
      expect(kinds()).toEqual([["status"]]);
      expect(clock.now()).toBe(unlocked);
    },
  );

  it("does not wait without end for a storage that does not respond to the release of the lock", async () => {
    const { clock, storage, follower, kinds } = createWorld();
    const { update, close } = follower({ storage: { ...storage, delete: () => new Promise(() => undefined) } });
    await settle(clock, update(first));
    expect(kinds()).toEqual([["status"]]);
    await settle(clock, close());
    expect(clock.pending).toBe(0);
  });

  it("hands everything over again when a value is lost, damaged, or of another version", async () => {
    const { storage, follower, handed } = createWorld();
    const { update } = follower();
    await update(first);
    const scoped = new ScopedStorage(storage, "scope");
    const key = `follower:order:${first}`;
    const spoilings = [
      () => scoped.delete(key),
      () => scoped.set(key, toJson({ v: 2, orders: [] })),
      () => scoped.set(key, new TextEncoder().encode("{")),
      async () => {
        for await (const full of storage.keys("")) if (isState(full)) await storage.set(full, new Uint8Array(20));
      },
    ];
    for (const spoil of spoilings) {
      await spoil();
      await update(first);
    }
    expect(handed.map(({ changes }) => changes.length)).toEqual([1, 1, 1, 1, 1]);
    await update(first);
    expect(handed).toHaveLength(5);
  });
});
