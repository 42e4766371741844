import fc from "fast-check";
import { ConfigurationError, memoryStorage } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { bytes, keysOf } from "./storages.ts";

/** What an entry takes besides its key and value. */
const overhead = 100;
const sizeOf = (key: string, length: number) => key.length + length + overhead;

describe("the memory of a storage", () => {
  it("holds at most `maxSize`: the least recently used values go first", async () => {
    const storage = memoryStorage({ maxSize: 3 * sizeOf("a", 10) });
    for (const key of ["a", "b", "c"]) await storage.set(key, new Uint8Array(10));
    await storage.get("a");
    await storage.set("d", new Uint8Array(10));
    expect(await keysOf(storage, "")).toEqual(["a", "c", "d"]);
    await storage.set("c", new Uint8Array(11));
    expect(await keysOf(storage, "")).toEqual(["c", "d"]);
  });

  it("does not hold a value larger than `maxSize`, which pushes out no other value", async () => {
    const storage = memoryStorage({ maxSize: 1_000 });
    await storage.set("small", bytes("1"));
    await storage.set("large", bytes("1"));
    expect(await storage.set("large", new Uint8Array(1_001))).toBe(true);
    expect(await keysOf(storage, "")).toEqual(["small"]);
    // One that fits alone, and is gone at once.
    expect(await storage.set("large", new Uint8Array(800), { ttl: 0 })).toBe(true);
    expect(await keysOf(storage, "")).toEqual(["small"]);
    await storage.set("alone", new Uint8Array(1_000 - sizeOf("alone", 0)));
    expect(await keysOf(storage, "")).toEqual(["alone"]);
  });

  it("stays below `maxSize` for any sequence of changes, and holds the latest value that fits", async () => {
    const change = fc.record({ key: fc.constantFrom("a", "bb", "ccc", "dddd", "eeeee"), length: fc.nat(400) });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        const storage = memoryStorage({ maxSize: 1_000 });
        for (const { key, length } of changes) {
          await storage.set(key, new Uint8Array(length));
          let size = 0;
          for (const held of await keysOf(storage, ""))
            size += sizeOf(held, (await storage.get(held))?.byteLength ?? 0);
          expect(size).toBeLessThanOrEqual(1_000);
          expect(await storage.get(key)).toHaveLength(length);
        }
      }),
    );
  });

  it("holds 64 MiB by default", async () => {
    const storage = memoryStorage();
    const most = 64 * 1024 * 1024 - sizeOf("key", 0);
    await storage.set("key", new Uint8Array(most + 1));
    expect(await keysOf(storage, "")).toEqual([]);
    await storage.set("key", new Uint8Array(most));
    expect(await keysOf(storage, "")).toEqual(["key"]);
  });

  it("removes values that are gone before it removes others", async () => {
    const clock = createManualClock();
    const storage = memoryStorage({ clock, maxSize: 22 * sizeOf("k00", 10) });
    for (let index = 10; index < 20; index += 1) await storage.set(`k${index}`, new Uint8Array(10));
    for (let index = 20; index < 30; index += 1) await storage.set(`k${index}`, new Uint8Array(10), { ttl: 1_000 });
    await clock.advance(1_000);
    for (let turn = 0; turn < 30; turn += 1) await storage.set("again", new Uint8Array(10));
    for (let index = 30; index < 39; index += 1) await storage.set(`k${index}`, new Uint8Array(10));
    expect(await keysOf(storage, "k1")).toHaveLength(10);
    expect(await keysOf(storage, "k3")).toHaveLength(9);
  });

  it.each<[unknown, string[], string]>([
    [{ maxSize: 0 }, ["maxSize"], "expected a number above 0"],
    [{ maxSize: 1.5 }, ["maxSize"], "expected a whole number, not a fraction"],
    [{ maxSize: "1" }, ["maxSize"], "expected a number, not a string"],
    [{ size: 1 }, ["size"], "is an unknown option; did you mean `maxSize`?"],
    [{ organization: "" }, ["organization"], "expected a string that is not empty"],
    [{ organization: 7 }, ["organization"], "expected a string, not a number"],
    [{ clock: {} }, ["clock"], "expected a clock with the functions `now` and `after`"],
    [7, [], "expected an object, not a number"],
    ["shop", [], "expected an object, not a string"],
  ])("refuses the options %j", (options, path, message) => {
    const make = () => memoryStorage(options as never);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(expect.objectContaining({ issues: [{ path, message }] }));
  });

  it("has the name of its organization", () => {
    expect(memoryStorage({ organization: "shop" }).organization).toBe("shop");
  });
});
