import { readFileSync } from "node:fs";
import { type KeyValueStorage, memoryStorage, PodPartner } from "pod-partner";
import { sqliteStorage } from "pod-partner/sqlite";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { openStorage } from "../../src/storage/client-storage.ts";
import { createScopeOf, ScopedStorage } from "../../src/storage/scoped-storage.ts";
import { bytes, keysOf, text, useFolder } from "./storages.ts";

const folder = useFolder();
const baseUrl = "https://partner.example/v2";
const secretKey = "key-5up3r53cr3t-4d5f6";

/** The part of a storage that a client uses. */
const open = (storage: KeyValueStorage, key = secretKey, url = baseUrl) =>
  openStorage({
    storage: storage,
    scopeOf: createScopeOf(url, key),
    clock: createManualClock(),
    reports: { onLost: (reason) => expect.fail(reason), onBack: () => undefined },
  });

/** The same values under another name of the organization. */
const named = (storage: KeyValueStorage, organization: string): KeyValueStorage => ({ ...storage, organization });

describe("the entries of a storage", () => {
  it("belong to the base URL and the secret key", async () => {
    const storage = memoryStorage();
    await (await open(storage)).set("key", bytes("value"));
    expect(text(await (await open(storage)).get("key"))).toBe("value");
    for (const other of [
      open(storage, "another-key-1234567"),
      open(storage, secretKey, "https://test.partner.example/v2"),
    ]) {
      expect(await (await other).get("key")).toBeUndefined();
    }
  });

  it("are a copy in a memory storage: bytes that the caller changes later, or has read, do not change them", async () => {
    for (const storage of [memoryStorage(), await open(memoryStorage())]) {
      const value = bytes("value");
      const set = storage.set("key", value);
      value.fill(0);
      await set;
      (await storage.get("key"))?.fill(0);
      expect(text(await storage.get("key"))).toBe("value");
    }
  });

  it("are iterated without those of others, also without an end, which the caller leaves", async () => {
    let ended = false;
    const storage: KeyValueStorage = {
      ...memoryStorage(),
      keys: async function* (prefix: string) {
        try {
          for (let index = 0; ; index += 1) yield index % 2 === 0 ? `other:${index}` : `${prefix}${index}`;
        } finally {
          ended = true;
        }
      },
    };
    const keys: string[] = [];
    for await (const key of new ScopedStorage(storage, "scope").keys("a:")) if (keys.push(key) === 3) break;
    expect(keys).toEqual(["a:1", "a:3", "a:5"]);
    expect(ended).toBe(true);
  });

  it("go through a `set` that replaces the one of a memory storage", async () => {
    const storage = memoryStorage();
    const keys: string[] = [];
    const client = await open({
      ...storage,
      set: (key, ...rest) => {
        keys.push(key);
        return storage.set(key, ...rest);
      },
    });
    await client.set("key", bytes("value"));
    expect(keys).toHaveLength(1);
    expect(text(await client.get("key"))).toBe("value");
  });

  it("belong to the name of the organization, if the storage has one, so that a new key finds them", async () => {
    const storage = memoryStorage();
    await (await open(named(storage, "shop"))).set("key", bytes("value"));
    expect(text(await (await open(named(storage, "shop"), "another-key-1234567")).get("key"))).toBe("value");
    expect(await (await open(named(storage, "other"))).get("key")).toBeUndefined();
    expect(await (await open(storage)).get("key")).toBeUndefined();
    expect(
      await (await open(named(storage, "shop"), secretKey, "https://test.partner.example/v2")).get("key"),
    ).toBeUndefined();
  });

  it("are under a name that a key cannot take, and that no key can imitate", async () => {
    const storage = memoryStorage();
    const same = `organization\n${secretKey}`;
    const scopes = [
      createScopeOf(baseUrl, secretKey),
      createScopeOf(baseUrl, same),
      createScopeOf(`${baseUrl}\n`, secretKey),
    ];
    const names = await Promise.all([...scopes.map((scope) => scope(storage)), scopes[0]?.(named(storage, secretKey))]);
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^[0-9a-f]{32}$/);
  });

  it("are those of the client's own scope", async () => {
    const storage = memoryStorage();
    const partner = new PodPartner({ baseUrl, secretKey, storage });
    expect(await partner["~scopeOf"](storage)).toBe(await createScopeOf(baseUrl, secretKey)(storage));
  });

  it("hold no secret, neither in a key nor in a value", async () => {
    const path = folder.path("storage.db");
    const storage = sqliteStorage(path);
    const client = await open(storage);
    for (const key of ["image:1", "render:2", "lease:3"]) await client.set(key, bytes("value"), { expected: null });
    expect(await keysOf(storage, "")).toHaveLength(3);
    for (const key of await keysOf(storage, "")) expect(key).toMatch(/^pod-partner:\{[0-9a-f]{32}\}:\w+:\d$/);
    await storage.close();
    const content = readFileSync(path);
    expect(content.includes("render:2")).toBe(true);
    const forms = [
      secretKey,
      "5up3r53cr3t",
      Buffer.from(secretKey).toString("base64"),
      Buffer.from(secretKey).toString("hex"),
    ];
    expect(forms.filter((form) => content.includes(form))).toEqual([]);
  });
});
