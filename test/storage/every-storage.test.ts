import type { KeyValueStorage } from "pod-partner";
import { postgresStorage } from "pod-partner/postgres";
import { createManualClock } from "pod-partner/testing";
import { expect, it } from "vitest";
import { takeLock } from "../../src/storage/lock.ts";
import { bytes, describeEachStorage, keysOf, startPGlite, text } from "./storages.ts";

const all = Uint8Array.from({ length: 256 }, (_, index) => index);
const hour = 3_600_000;

describeEachStorage("a storage", ({ open, pass }) => {
  it.each([
    ["every byte", all],
    ["no byte", new Uint8Array()],
    ["64 kB", Uint8Array.from({ length: 65_536 }, (_, index) => (index * 31) % 251)],
    ["a part of a larger buffer", all.subarray(100, 131)],
    ["a Buffer", Buffer.from("with the pool of Node")],
  ])("returns the bytes that were set: %s", async (_, value) => {
    const storage = open();
    expect(await storage.set("key", value)).toBe(true);
    const held = await storage.get("key");
    expect(held?.constructor).toBe(Uint8Array);
    expect([...(held ?? [])]).toEqual([...value]);
    expect(await open().get("key")).toEqual(held);
  });

  it("holds copies: a later change of the caller's bytes changes nothing", async () => {
    const storage = open();
    for (const value of [Uint8Array.of(1, 2), Buffer.of(1, 2)]) {
      await storage.set("key", value);
      value[0] = 9;
      const held = await storage.get("key");
      expect(held).toEqual(Uint8Array.of(1, 2));
      if (held) held[1] = 9;
      expect(await storage.get("key")).toEqual(Uint8Array.of(1, 2));
    }
  });

  it("holds nothing under a key that was never set, or deleted", async () => {
    const storage = open();
    expect(await storage.get("key")).toBeUndefined();
    expect(await storage.delete("key")).toBe(false);
    await storage.set("key", all);
    expect(await storage.delete("key")).toBe(true);
    expect(await storage.delete("key")).toBe(false);
    expect(await storage.get("key")).toBeUndefined();
  });

  it("changes a key only if it holds what is expected", async () => {
    const [one, other] = [open(), open()];
    expect(await one.set("key", bytes("1"), { expected: bytes("0") })).toBe(false);
    expect(await one.set("key", bytes("1"), { expected: null })).toBe(true);
    expect(await other.set("key", bytes("2"), { expected: null })).toBe(false);
    expect(await other.set("key", bytes("2"), { expected: bytes("1 ") })).toBe(false);
    expect(await other.set("key", bytes("2"), { expected: bytes("1") })).toBe(true);
    expect(await one.delete("key", { expected: bytes("1") })).toBe(false);
    expect(await one.delete("key", { expected: null })).toBe(false);
    expect(text(await one.get("key"))).toBe("2");
    expect(await one.delete("key", { expected: bytes("2") })).toBe(true);
    expect(await one.delete("key", { expected: bytes("2") })).toBe(false);
  });

  it("compares bytes without content with bytes without content, and not with an absent value", async () => {
    const storage = open();
    const nothing = new Uint8Array();
    expect(await storage.set("key", all, { expected: nothing })).toBe(false);
    await storage.set("key", nothing);
    expect(await storage.set("key", all, { expected: null })).toBe(false);
    expect(await storage.set("key", bytes("1"), { expected: nothing })).toBe(true);
    await storage.set("key", nothing);
    expect(await storage.delete("key", { expected: null })).toBe(false);
    expect(await storage.delete("key", { expected: nothing })).toBe(true);
  });

  it("gives a free key to exactly one of many", async () => {
    const stores = [open(), open()];
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (stores[index % 2] ?? open()).set("key", bytes(`${index}`), { expected: null }),
      ),
    );
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(text(await open().get("key"))).toBe(`${taken.indexOf(true)}`);
  });

  it("applies the changes of a process in the order of their calls", async () => {
    const storage = open();
    await Promise.all(Array.from({ length: 50 }, (_, index) => storage.set("key", bytes(`${index}`))));
    expect(text(await storage.get("key"))).toBe("49");
  });

  it("iterates the keys with a prefix, whatever characters it has", async () => {
    const storage = open();
    const keys = [
      "a",
      "a:",
      "a:1",
      "a:2",
      "a*",
      "a*1",
      "a?",
      "a[b-c]",
      "a\\",
      "a\\1",
      "a^",
      "a{b}",
      "ab",
      "A:1",
      "b",
      "~",
      "a%",
      "a_",
    ];
    for (const key of keys) await storage.set(key, all);
    for (const prefix of ["", ...keys, "a[", "c"]) {
      expect(await keysOf(storage, prefix)).toEqual(keys.filter((key) => key.startsWith(prefix)).sort());
    }
  });

  it("iterates several pages of keys, also while some are read, changed and deleted", async () => {
    const storage = open();
    const keys = Array.from({ length: 550 }, (_, index) => `many:${index}`);
    await storage.set("other", all);
    for (let from = 0; from < keys.length; from += 100) {
      await Promise.all(keys.slice(from, from + 100).map((key) => storage.set(key, all)));
    }
    expect(await keysOf(open(), "many:")).toEqual(keys.toSorted());
    const seen = new Set<string>();
    for await (const key of storage.keys("many:")) {
      seen.add(key);
      if (seen.size % 5 === 0) await storage.set(key, bytes("changed"));
      if (seen.size % 10 === 0) await storage.get(key);
      if (seen.size % 10 === 0) await storage.delete(key);
    }
    expect(seen).toEqual(new Set(keys));
  });

  it("ends an iteration that the caller leaves", async () => {
    const storage = open();
    for (const key of ["1", "2", "3"]) await storage.set(key, all);
    for await (const key of storage.keys("")) {
      expect(key).toMatch(/^[123]$/);
      break;
    }
    expect(await keysOf(storage, "")).toEqual(["1", "2", "3"]);
  });

  it("holds a value for its lifetime, and then nothing", async () => {
    const storage = open();
    await storage.set("short", all, { ttl: hour });
    await storage.set("long", all, { ttl: 3 * hour });
    await storage.set("stays", all);
    await storage.set("renewed", all, { ttl: hour });
    await storage.set("renewed", all, { ttl: 3 * hour });
    await storage.set("kept", all, { ttl: hour });
    await storage.set("kept", all);
    await pass(2 * hour);
    expect(await storage.get("short")).toBeUndefined();
    expect(await storage.delete("short")).toBe(false);
    expect(await keysOf(storage, "")).toEqual(["kept", "long", "renewed", "stays"]);
    expect(await storage.set("short", bytes("new"), { expected: all })).toBe(false);
    expect(await storage.set("short", bytes("new"), { expected: null })).toBe(true);
    expect(text(await open().get("short"))).toBe("new");
    await pass(2 * hour);
    expect(await keysOf(storage, "")).toEqual(["kept", "short", "stays"]);
  });

  it("takes any number as a lifetime, and refuses other values", async () => {
    const storage = open();
    for (const ttl of [Number.POSITIVE_INFINITY, Number.MAX_VALUE, hour + 0.25]) {
      await storage.set("key", all, { ttl });
      expect(await storage.get("key")).toEqual(all);
    }
    for (const ttl of [0, -1, Number.NEGATIVE_INFINITY]) {
      await storage.set("key", all);
      expect(await storage.set("key", all, { ttl })).toBe(true);
      expect(await storage.get("key")).toBeUndefined();
      expect(await keysOf(storage, "")).toEqual([]);
    }
    await expect(storage.set("key", all, { ttl: Number.NaN })).rejects.toThrow(RangeError);
    await expect(storage.set("key", all, { ttl: "soon" as never })).rejects.toThrow(RangeError);
  });

  it("holds a lock for one holder, until it is released", async () => {
    const clock = createManualClock();
    const take = (storage: KeyValueStorage) => takeLock(storage, "lock", hour, clock);
    const lock = await take(open());
    if (lock === undefined || lock === "lost") throw new Error("expected a lock");
    expect(await take(open())).toBeUndefined();
    await lock.release();
    expect(await take(open())).toBeTypeOf("object");
    // A lock of another holder stays.
    await lock.release();
    expect(await take(open())).toBeUndefined();
  });

  it("holds a lock as long as it is renewed, and for its lifetime after that", async () => {
    const clock = createManualClock();
    const storage = open();
    const renewed: Promise<unknown>[] = [];
    const watched: KeyValueStorage = {
      ...storage,
      set: (...given) => {
        const set = storage.set(...given);
        renewed.push(set);
        return set;
      },
    };
    await takeLock(watched, "lock", hour, clock);
    await pass(0.75 * hour);
    await clock.advance(hour / 3);
    expect(await Promise.all(renewed)).toEqual([true, true]);
    await pass(0.75 * hour);
    expect(await takeLock(open(), "lock", hour, clock)).toBeUndefined();
    await pass(0.5 * hour);
    expect(await takeLock(open(), "lock", hour, clock)).toBeTypeOf("object");
    await clock.advance(hour / 3);
    expect(await Promise.all(renewed)).toEqual([true, true, false]);
  });
});

it("is refused inside a transaction of PGlite", async () => {
  const database = await startPGlite();
  await database.transaction(async (transaction) => {
    expect(() => postgresStorage(transaction as never)).toThrow("client: is inside a transaction");
  });
});
