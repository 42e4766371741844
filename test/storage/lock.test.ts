import { memoryStorage } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { type Lock, type LockHolder, takeLock, waitForLock } from "../../src/storage/lock.ts";

const lifetime = 5_000;

describe("a lock", () => {
  const start = async () => {
    const clock = createManualClock();
    const storage = memoryStorage({ clock });
    const lock = (await takeLock(storage, "key", lifetime, clock)) as Lock;
    return { clock, storage, lock };
  };

  it("is certain for as long as its renewals succeed", async () => {
    const { clock, lock } = await start();
    for (let passed = 0; passed < 10 * lifetime; passed += 500) {
      await clock.advance(500);
      expect(lock.isCertain).toBe(true);
    }
    await lock.release();
    expect(clock.pending).toBe(0);
  });

  it("is no longer certain when its renewals find that another holder has the key", async () => {
    const { clock, storage, lock } = await start();
    await storage.set("key", new TextEncoder().encode("another holder"));
    // Its time would not be over yet.
    await clock.advance(lifetime / 2);
    expect(lock.isCertain).toBe(false);
    await lock.release();
    expect(new TextDecoder().decode(await storage.get("key"))).toBe("another holder");
  });

  it("goes to one of two, and to the other after its release or its lifetime", async () => {
    const { clock, storage, lock } = await start();
    expect(await takeLock(storage, "key", lifetime, clock)).toBeUndefined();
    await lock.release();
    const second = (await takeLock(storage, "key", lifetime, clock)) as Lock;
    expect(second.isCertain).toBe(true);
    // A holder that died renews nothing.
    const frozen = { now: clock.now, after: () => () => undefined };
    await second.release();
    expect(await takeLock(storage, "key", lifetime, frozen)).toBeDefined();
    expect(await takeLock(storage, "key", lifetime, clock)).toBeUndefined();
    await clock.advance(lifetime);
    expect(await takeLock(storage, "key", lifetime, clock)).toBeDefined();
  });

  it("is free when the storage finds that the value of its key is damaged", async () => {
    const clock = createManualClock();
    const storage = memoryStorage({ clock });
    let damaged = true;
    const damagedStorage = {
      // Reading drops the value.
      get: async (key: string) => {
        damaged = false;
        return storage.get(key);
      },
      set: async (...change: Parameters<typeof storage.set>) => (damaged ? false : storage.set(...change)),
      delete: storage.delete,
    };
    expect(await takeLock(damagedStorage, "key", lifetime, clock)).toMatchObject({ isCertain: true });
  });

  it("can be taken from its holder, which sees that at its next renewal and does not release the new lock", async () => {
    const { clock, storage } = await start();
    const reading = (await takeLock(storage, "other", lifetime, clock, { purpose: "read" })) as Lock;
    const holders: LockHolder[] = [];
    const refuse = (holder: LockHolder) => {
      holders.push(holder);
      return false;
    };
    expect(await takeLock(storage, "other", lifetime, clock, { mayTakeFrom: refuse })).toBeUndefined();
    expect(await takeLock(storage, "key", lifetime, clock, { mayTakeFrom: refuse })).toBeUndefined();
    const takenAt = clock.now();
    expect(holders).toEqual([
      { purpose: "read", takenAt },
      { purpose: "", takenAt },
    ]);
    const taken = (await takeLock(storage, "other", lifetime, clock, { mayTakeFrom: () => true })) as Lock;
    await clock.advance(lifetime);
    expect([reading.isCertain, taken.isCertain]).toEqual([false, true]);
    await reading.release();
    expect(await takeLock(storage, "other", lifetime, clock)).toBeUndefined();
  });

  it("is waited for until its release, or for a time", async () => {
    const { clock, storage, lock } = await start();
    const wait = () => waitForLock(() => takeLock(storage, "key", lifetime, clock), clock, 1_000);
    const late = wait();
    await clock.advance(1_000);
    expect(await late).toBeUndefined();
    const taken = wait();
    await clock.advance(300);
    await lock.release();
    await clock.advance(100);
    expect(await taken).toMatchObject({ isCertain: true });
  });

  it("is unknown while the storage is lost", async () => {
    const calls: string[] = [];
    const note = (name: string) => async () => {
      calls.push(name);
      return undefined;
    };
    const lost = { get: note("get"), set: note("set"), delete: note("delete") };
    expect(await takeLock(lost, "key", lifetime, createManualClock())).toBe("lost");
    expect(calls).toEqual(["set"]);
  });
});
