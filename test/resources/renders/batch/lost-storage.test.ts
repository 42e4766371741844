import { setImmediate } from "node:timers/promises";
import { type KeyValueStorage, memoryStorage, type PartnerClock } from "pod-partner";
import { sampleImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { settle } from "../../../support/settle.ts";
import { creationsOf, rowsOf, startService } from "./service.ts";
import { collect, tally } from "./setup.ts";

const quiet = { onStorageLost: () => undefined };

/** A service whose renders take so many milliseconds, and clients with one storage. */
function setUp(renderDuration: number) {
  const service = startService(
    () => renderDuration,
    (left) => Math.ceil(left / 1_000),
  );
  const { clock, storage, connect, seen } = service;
  let touched = false;
  const watched = (own: KeyValueStorage): KeyValueStorage => ({
    ...own,
    get: (key) => {
      touched = true;
      return own.get(key);
    },
  });
  return {
    ...service,
    connect: ({ storage: own = storage, ...options }: NonNullable<Parameters<typeof connect>[0]> = {}) =>
      connect({ storage: watched(own), hooks: quiet, ...options }),
    /** Waits for a call by moving the clock, once it has used its storage: opening one takes time of the machine. */
    async settle<T>(call: Promise<T>): Promise<T> {
      touched = false;
      while (!touched) await setImmediate();
      return settle(clock, call);
    },
    creations: () => creationsOf(seen),
  };
}

const never = new Promise<never>(() => undefined);

type Operation = () => Promise<unknown>;

/** A storage of which one operation, counted from 1, does something else. Later operations may be changed, too. */
function changed(storage: KeyValueStorage, change: (operation: Operation, count: number) => Promise<unknown>) {
  let count = 0;
  const through = <T>(operation: () => Promise<T>): Promise<T> => {
    count += 1;
    return change(operation, count) as Promise<T>;
  };
  const own: KeyValueStorage = {
    ...storage,
    get: (key) => through(() => storage.get(key)),
    set: (...given) => through(() => storage.set(...given)),
    delete: (...given) => through(() => storage.delete(...given)),
  };
  return { own, count: () => count };
}

type Setup = ReturnType<typeof setUp>;

/** What can happen at an operation. Each resolves to what the operation gives. */
const mishaps: Record<string, (setup: Setup, operation: Operation) => Promise<unknown>> = {
  fails: () => Promise.reject(new Error("gone")),
  "fails after its effect": async (_, operation) => {
    await operation();
    throw new Error("gone");
  },
  hangs: () => never,
  "has its effect, and no result": async (_, operation) => {
    await operation();
    return never;
  },
  "is slow": async ({ clock }, operation) => {
    const result = await operation();
    await new Promise<void>((resolve) => clock.after(900, resolve));
    return result;
  },
  "has its effect after its time": async ({ clock }, operation) => {
    await new Promise<void>((resolve) => clock.after(1_500, resolve));
    return operation();
  },
};

/** The number of operations of a batch of one row, and more: those that come after a mishap. */
const operations = Array.from({ length: 7 }, (_, index) => index + 1);

describe("renders.batch with a storage that", () => {
  it.each(Object.keys(mishaps).flatMap((mishap) => operations.map((at) => [mishap, at] as const)))(
    "%s at operation %i creates a render once, also in the next run of the process",
    async (mishap, at) => {
      const setup = setUp(5_000);
      const pairs = rowsOf(1);
      const { own } = changed(setup.storage, (operation, count) =>
        count === at ? (mishaps[mishap]?.(setup, operation) ?? never) : operation(),
      );
      const partner = setup.connect({ storage: own });
      expect(tally(await setup.settle(collect(partner.renders.batch(pairs))))).toEqual({ ok: 1 });
      expect(setup.creations()).toEqual([1]);
      expect(tally(await setup.settle(collect(partner.renders.batch(pairs))))).toEqual({ ok: 1 });
      // What was paid for is in the storage, so that another process has it.
      expect(tally(await setup.settle(collect(setup.connect().renders.batch(pairs))))).toEqual({ ok: 1 });
      expect(setup.creations()).toEqual([1]);
    },
  );

  it.each(["fails", "hangs"].flatMap((mishap) => operations.map((from) => [mishap, from] as const)))(
    "%s for 5 s from operation %i on creates nothing meanwhile, and each render once",
    async (mishap, from) => {
      const setup = setUp(2_000);
      const pairs = rowsOf(3);
      let until = 0;
      const { own } = changed(setup.storage, (operation, count) => {
        if (count === from) until = setup.clock.now() + 5_000;
        return setup.clock.now() < until ? (mishaps[mishap]?.(setup, operation) ?? never) : operation();
      });
      const partner = setup.connect({ storage: own });
      expect(tally(await setup.settle(collect(partner.renders.batch([...pairs, ...pairs]))))).toEqual({ ok: 6 });
      await setup.clock.advance(6_000);
      expect(tally(await setup.settle(collect(partner.renders.batch(pairs))))).toEqual({ ok: 3 });
      expect(tally(await setup.settle(collect(setup.connect().renders.batch(pairs))))).toEqual({ ok: 3 });
      expect(setup.creations()).toEqual([1, 1, 1]);
    },
  );

  it.each(
    ["fails", "hangs"].flatMap((mishap) => [3, 9, 11, 12.5, 14, 25].map((seconds) => [mishap, seconds] as const)),
  )("%s for %d s, for two processes with the same rows, creates each render once", async (mishap, seconds) => {
    const setup = setUp(2_000);
    const pairs = rowsOf(6);
    let until = Number.POSITIVE_INFINITY;
    // From the first creation on, which the service receives after the storage is lost.
    const isLost = () => setup.creations().length > 0 && setup.clock.now() < until;
    const connect = () =>
      setup.connect({
        storage: changed(setup.storage, (operation) => {
          if (setup.creations().length > 0) until = Math.min(until, setup.clock.now() + seconds * 1_000);
          return isLost() ? (mishaps[mishap]?.(setup, operation) ?? never) : operation();
        }).own,
      });
    const both = [connect(), connect()].map((partner) => collect(partner.renders.batch(pairs)));
    expect((await setup.settle(Promise.all(both))).map(tally)).toEqual([{ ok: 6 }, { ok: 6 }]);
    expect(setup.creations()).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it.each([
    ["fails", undefined, 30_000],
    ["hangs", undefined, 30_000],
    ["hangs", 12_000, 12_000],
    ["fails", 100_000, 100_000],
  ] as const)("%s for ever ends each row as a StorageError, with the deadline %s", async (mishap, deadline, ms) => {
    const setup = setUp(0);
    const pairs = rowsOf(3);
    const { own } = changed(memoryStorage(), (operation) => mishaps[mishap]?.(setup, operation) ?? never);
    const began = setup.clock.now();
    const partner = setup.connect({ storage: own });
    const outcomes = await setup.settle(collect(partner.renders.batch(pairs, { deadline })));
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ ok: false, reason: "error", error: { name: "StorageError", isRetryable: true } });
    expect(setup.creations()).toEqual([]);
    // The rows wait together.
    expect(setup.clock.now() - began).toBeGreaterThanOrEqual(ms);
    expect(setup.clock.now() - began).toBeLessThanOrEqual(ms + 8_000);
    expect(setup.clock.pending).toBe(0);
  });

  it("refuses changes only creates nothing, and still gives what it holds", async () => {
    const setup = setUp(0);
    const [known, ...others] = rowsOf(2);
    if (known === undefined) throw new Error("There is no pair");
    await setup.settle(collect(setup.connect().renders.batch([known])));
    const full = { ...setup.storage, set: () => Promise.reject(new Error("full")) };
    const outcomes = collect(setup.connect({ storage: full }).renders.batch([known, ...others]));
    expect(tally(await setup.settle(outcomes))).toEqual({ ok: 1, error: 1 });
    expect(setup.creations()).toEqual([1]);
  });
});

describe('renders.batch with `storageLost: "continue"`', () => {
  it.each(["fails", "hangs"] as const)("creates each pair once although the storage %s", async (mishap) => {
    const setup = setUp(0);
    const [pair, ...others] = rowsOf(2);
    if (pair === undefined) throw new Error("There is no pair");
    const { own } = changed(setup.storage, (operation) => mishaps[mishap]?.(setup, operation) ?? operation());
    const partner = setup.connect({ storage: own, storageLost: "continue" });
    expect(tally(await setup.settle(collect(partner.renders.batch([pair, pair, ...others]))))).toEqual({ ok: 3 });
    expect(setup.creations()).toEqual([1, 1]);
  });
});

describe("a process that is suspended for longer than its lock", () => {
  /** Moves only the clock of this process, or only the wall clock, which goes on while a machine is suspended. */
  const suspensions = ["by the clock", "by the wall clock"] as const;

  const clockOf = ({ clock }: Setup, ahead: { readonly now: number; readonly date: number }): PartnerClock => ({
    now: () => clock.now() + ahead.now,
    date: () => clock.now() + ahead.date,
    after: clock.after,
  });

  it.each(suspensions.flatMap((kind) => operations.slice(0, 6).map((at) => [kind, at] as const)))(
    "%s at operation %i of the storage finds the render that another process created meanwhile",
    async (kind, at) => {
      const setup = setUp(0);
      const pairs = rowsOf(1);
      const ahead = { now: 0, date: 0 };
      const { own } = changed(setup.storage, async (operation, count) => {
        const result = await operation();
        if (count !== at) return result;
        // The lock of this process ends. It cannot renew it.
        for await (const key of setup.storage.keys("")) if (key.includes("lease")) await setup.storage.delete(key);
        const other = setup.connect();
        expect(tally(await settle(setup.clock, collect(other.renders.batch(pairs))))).toEqual({ ok: 1 });
        ahead[kind === "by the clock" ? "now" : "date"] = 40_000;
        return result;
      });
      const partner = setup.connect({ storage: own, clock: clockOf(setup, ahead) });
      expect(tally(await settle(setup.clock, collect(partner.renders.batch(pairs))))).toEqual({ ok: 1 });
      expect(setup.creations()).toEqual([1]);
    },
  );

  it.each(suspensions)("%s after it took its token uploads no image that is known by then", async (kind) => {
    const setup = setUp(0);
    const source = sampleImage("suspended");
    const ahead = { now: 0, date: 0 };
    // What another process stores meanwhile. It reads the source before: that takes time of the machine.
    const other = memoryStorage({ organization: "shop" });
    expect(await setup.connect({ storage: other }).images.uploadOnce(source)).toMatchObject({ uploaded: true });
    const { own } = changed(setup.storage, async (operation, count) => {
      const result = await operation();
      // The look after the lock was taken.
      if (count !== 3) return result;
      for await (const key of setup.storage.keys("")) if (key.includes("lease")) await setup.storage.delete(key);
      for await (const key of other.keys("")) {
        const value = await other.get(key);
        if (value !== undefined) await setup.storage.set(key, value);
      }
      ahead[kind === "by the clock" ? "now" : "date"] = 40_000;
      return result;
    });
    const partner = setup.connect({ storage: own, clock: clockOf(setup, ahead) });
    expect(await setup.settle(partner.images.uploadOnce(source))).toMatchObject({ uploaded: false });
    expect(setup.seen.filter(({ line }) => line === "POST /images").length).toBe(1);
  });
});

it("does not wait for a lock that a slow storage sets after its row has given up", async () => {
  const { connect, settle, storage, clock } = setUp(1_000);
  let isLate = false;
  const set: KeyValueStorage["set"] = async (key, ...rest) => {
    if (key.includes("render-lease:") && !isLate) {
      isLate = true;
      await new Promise<void>((resolve) => void clock.after(1_500, resolve));
    }
    return storage.set(key, ...rest);
  };
  const began = clock.now();
  const outcomes = await settle(
    collect(connect({ storage: { ...storage, set } }).renders.batch(rowsOf(1), { download: false })),
  );
  expect([isLate, outcomes.map(({ ok }) => ok)]).toEqual([true, [true]]);
  expect(clock.now() - began).toBeLessThan(8_000);
});
