import { DeadlineError, memoryStorage } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it, vi } from "vitest";
import { assertCertain, type Lock, type LockHolder, takeLock, waitForLock } from "../../src/storage/lock.ts";
import { settle } from "../support/settle.ts";

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

  it("is certain only until the end of its lifetime when its renewals find the storage lost", async () => {
    const clock = createManualClock();
    const storage = memoryStorage({ clock });
    let isLost = false;
    const set: typeof storage.set = (...given) => (isLost ? (undefined as never) : storage.set(...given));
    const lock = (await takeLock({ ...storage, set }, "key", lifetime, clock)) as Lock;
    isLost = true;
    await clock.advance(lifetime - 1);
    expect(lock.isCertain).toBe(true);
    await clock.advance(1);
    expect(lock.isCertain).toBe(false);
  });

  it("is certain since its latest renewal, also when an earlier one ends after it", async () => {
    const clock = createManualClock();
    const storage = memoryStorage({ clock });
    const slow = Promise.withResolvers<void>();
    const waits = [Promise.resolve(), slow.promise];
    const set: typeof storage.set = async (...given) => {
      await waits.shift();
      return storage.set(...given);
    };
    // Without renewals of its own.
    const frozen = { now: clock.now, after: () => () => undefined };
    const lock = (await takeLock({ ...storage, set }, "key", lifetime, frozen)) as Lock;
    const earlier = lock.extend(lifetime);
    await clock.advance(1_000);
    await lock.extend(lifetime);
    slow.resolve();
    await earlier;
    await clock.advance(lifetime - 1);
    expect(lock.isCertain).toBe(true);
    await clock.advance(1);
    expect(lock.isCertain).toBe(false);
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
    expect(holders).toMatchObject([
      { purpose: "read", takenAt },
      { purpose: "", takenAt },
    ]);
    const taken = (await takeLock(storage, "other", lifetime, clock, { mayTakeFrom: () => true })) as Lock;
    await clock.advance(lifetime);
    expect([reading.isCertain, taken.isCertain]).toEqual([false, true]);
    await reading.release();
    expect(await takeLock(storage, "other", lifetime, clock)).toBeUndefined();
  });

  it("is not certain after a suspend of the machine, in which only the wall clock goes on", async () => {
    const manual = createManualClock();
    let suspended = 0;
    const clock = { ...manual, date: () => manual.now() + suspended };
    const lock = (await takeLock(memoryStorage({ clock: manual }), "key", lifetime, clock)) as Lock;
    suspended = lifetime - 1;
    expect(lock.isCertain).toBe(true);
    suspended = lifetime;
    expect(lock.isCertain).toBe(false);
    expect(() => assertCertain(lock)).toThrow("The lock in the storage ended before the request was sent.");
    expect(() => assertCertain(lock)).toThrow(expect.objectContaining({ name: "StorageError" }));
    await lock.release();
  });

  it("counts its time from before the storage was asked", async () => {
    const clock = createManualClock();
    const storage = memoryStorage({ clock });
    const set: typeof storage.set = async (...change) => {
      const done = await storage.set(...change);
      await new Promise<void>((resolve) => clock.after(1_500, resolve));
      return done;
    };
    const taking = takeLock({ ...storage, set }, "key", lifetime, { ...clock, after: () => () => undefined });
    await clock.advance(1_500);
    const lock = (await taking) as Lock;
    await clock.advance(lifetime - 1_501);
    expect(lock.isCertain).toBe(true);
    await clock.advance(1);
    expect(lock.isCertain).toBe(false);
  });

  it("that its holder leaves stays for the time that it was left for, and is not renewed", async () => {
    const { clock, storage, lock } = await start();
    await lock.leave(20_000);
    await clock.advance(19_999);
    expect(await storage.get("key")).toBeDefined();
    await clock.advance(1);
    expect(await storage.get("key")).toBeUndefined();
    const next = (await takeLock(storage, "key", lifetime, clock)) as Lock;
    await next.leave(0);
    expect(await storage.get("key")).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it("is taken over from the same owner, whose slow storage has set it after its call gave up", async () => {
    const clock = createManualClock();
    const storage = memoryStorage({ clock });
    const frozen = { now: clock.now, after: () => () => undefined };
    await takeLock(storage, "key", lifetime, frozen, { owner: "one" });
    expect(await takeLock(storage, "key", lifetime, clock, { owner: "other" })).toBeUndefined();
    expect(await takeLock(storage, "key", lifetime, clock, { owner: "one" })).toMatchObject({ isCertain: true });
    // Without a name each call is another owner.
    await takeLock(storage, "unnamed", lifetime, frozen);
    expect(await takeLock(storage, "unnamed", lifetime, clock)).toBeUndefined();
  });

  it("is freed when the storage throws, because it may have set it", async () => {
    const clock = createManualClock();
    const storage = memoryStorage({ clock });
    const set: typeof storage.set = async (...change) => {
      await storage.set(...change);
      throw new Error("too slow");
    };
    await expect(takeLock({ ...storage, set }, "key", lifetime, clock)).rejects.toThrow("too slow");
    await clock.advance(0);
    expect(await storage.get("key")).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it("that its holder leaves for no time is deleted, and not set again", async () => {
    const clock = createManualClock();
    const storage = memoryStorage({ clock });
    const lock = (await takeLock(storage, "key", lifetime, clock)) as Lock;
    const set = vi.spyOn(storage, "set");
    await lock.leave(0);
    expect(set).not.toHaveBeenCalled();
    expect(await storage.get("key")).toBeUndefined();
  });

  it.each([["certain"], ["lost"], ["absent"]])("that is %s does not stop a request", async (state) => {
    const lock = state === "certain" ? (await start()).lock : state === "lost" ? "lost" : undefined;
    expect(() => assertCertain(lock)).not.toThrow();
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

describe("a wait for a lock", () => {
  const limit = { ms: 2_000, late: () => new Error("too late") };

  /** Waits in virtual time for what `tries` say, from the first on: the last one stays. */
  function wait(tries: readonly ("lost" | undefined | object)[], more: object = {}) {
    const clock = createManualClock();
    const began = clock.now();
    const reports: [reason: string, at: number][] = [];
    const report = (reason: string) => void reports.push([reason, clock.now() - began]);
    const attempt = () => Promise.resolve(tries[Math.min(++tried, tries.length - 1)]);
    let tried = 0;
    const ended = waitForLock(attempt as () => Promise<object | undefined>, tries[0] as undefined, {
      clock,
      report,
      ...more,
    }).then(
      (taken) => ({ taken, after: clock.now() - began, reports }),
      ({ name, message }) => ({ name, message, after: clock.now() - began, reports }),
    );
    return settle(clock, ended, 1);
  }

  it("ends with the lock, after pauses that double up to a second", async () => {
    const lock = {};
    expect(await wait([undefined, undefined, undefined, lock])).toEqual({ taken: lock, after: 350, reports: [] });
    const tries = [...Array.from({ length: 8 }, () => undefined), lock];
    expect(await wait(tries)).toMatchObject({ taken: lock, after: 50 + 100 + 200 + 400 + 800 + 3_000 });
  });

  it("ends with the error of its limit when another holder has the lock for that long", async () => {
    expect(await wait([undefined], { limit })).toMatchObject({ message: "too late", after: 2_000 });
  });

  it("ends with a `StorageError` when the storage stays lost for 30 s, or for another time", async () => {
    expect(await wait(["lost"], { limit })).toMatchObject({ name: "StorageError", after: 30_000 });
    expect(await wait(["lost"], { longestLost: 500 })).toMatchObject({ name: "StorageError", after: 500 });
  });

  it("waits for a lost storage from the time at which it was lost", async () => {
    const ended = await wait([undefined, undefined, undefined, undefined, "lost"], { longestLost: 1_000 });
    expect(ended).toMatchObject({
      name: "StorageError",
      message:
        "The storage could not be reached for 1000 ms, so it is not known whether another process has sent the request. Nothing was sent.",
      after: 350 + 1_000,
    });
  });

  it("needs nobody to report to", async () => {
    const lock = {};
    const tries = [undefined, undefined, undefined, undefined, undefined, lock];
    expect(await wait(tries, { report: undefined })).toMatchObject({ taken: lock, after: 1_550 });
  });

  it("reports each reason once, when it has lasted a moment", async () => {
    const tries = [undefined, "lost", "lost", "lost", undefined, undefined, {}] as const;
    expect((await wait(tries)).reports).toEqual([
      ["storage", 350],
      ["other-process", 750],
    ]);
  });

  it("ends with the error of its pause, which is that of the storage when a deadline ends the wait for it", async () => {
    const sleep = () => Promise.reject(new DeadlineError({ message: "over" }));
    expect(await wait([undefined], { sleep })).toMatchObject({ name: "DeadlineError" });
    expect(await wait(["lost"], { sleep })).toMatchObject({
      name: "StorageError",
      message: expect.stringContaining("for 0 ms"),
    });
    const abort = () => Promise.reject(new Error("aborted"));
    expect(await wait(["lost"], { sleep: abort })).toMatchObject({ message: "aborted" });
  });
});
