import { readFileSync } from "node:fs";
import { type KeyValueStore, memoryStore, PodPartner } from "pod-partner";
import { sqliteStore } from "pod-partner/sqlite";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { openStorage } from "../../src/storage/client-storage.ts";
import { createScopeOf } from "../../src/storage/scoped-storage.ts";
import { bytes, keysOf, text, useFolder } from "./stores.ts";

const folder = useFolder();
const baseUrl = "https://partner.example/v2";
const secretKey = "key-5up3r53cr3t-4d5f6";

/** The part of a store that a client uses. */
const open = (store: KeyValueStore, key = secretKey, url = baseUrl) =>
  openStorage({
    storage: store,
    scopeOf: createScopeOf(url, key),
    clock: createManualClock(),
    reports: { onLost: (reason) => expect.fail(reason), onBack: () => undefined },
  });

/** The same values under another name of the organization. */
const named = (store: KeyValueStore, organization: string): KeyValueStore => ({ ...store, organization });

describe("the entries of a store", () => {
  it("belong to the base URL and the secret key", async () => {
    const store = memoryStore();
    await (await open(store)).set("key", bytes("value"));
    expect(text(await (await open(store)).get("key"))).toBe("value");
    for (const other of [
      open(store, "another-key-1234567"),
      open(store, secretKey, "https://test.partner.example/v2"),
    ]) {
      expect(await (await other).get("key")).toBeUndefined();
      expect(await keysOf(await other, "")).toEqual([]);
    }
  });

  it("are a copy in a memory store: bytes that the caller changes later, or has read, do not change them", async () => {
    for (const store of [memoryStore(), await open(memoryStore())]) {
      const value = bytes("value");
      const set = store.set("key", value);
      value.fill(0);
      await set;
      (await store.get("key"))?.fill(0);
      expect(text(await store.get("key"))).toBe("value");
    }
  });

  it("go through a `set` that replaces the one of a memory store", async () => {
    const store = memoryStore();
    const keys: string[] = [];
    const client = await open({
      ...store,
      set: (key, ...rest) => {
        keys.push(key);
        return store.set(key, ...rest);
      },
    });
    await client.set("key", bytes("value"));
    expect(keys).toHaveLength(1);
    expect(text(await client.get("key"))).toBe("value");
  });

  it("belong to the name of the organization, if the store has one, so that a new key finds them", async () => {
    const store = memoryStore();
    await (await open(named(store, "shop"))).set("key", bytes("value"));
    expect(text(await (await open(named(store, "shop"), "another-key-1234567")).get("key"))).toBe("value");
    expect(await (await open(named(store, "other"))).get("key")).toBeUndefined();
    expect(await (await open(store)).get("key")).toBeUndefined();
    expect(
      await (await open(named(store, "shop"), secretKey, "https://test.partner.example/v2")).get("key"),
    ).toBeUndefined();
  });

  it("are under a name that a key cannot take, and that no key can imitate", async () => {
    const store = memoryStore();
    const same = `organization\n${secretKey}`;
    const scopes = [
      createScopeOf(baseUrl, secretKey),
      createScopeOf(baseUrl, same),
      createScopeOf(`${baseUrl}\n`, secretKey),
    ];
    const names = await Promise.all([...scopes.map((scope) => scope(store)), scopes[0]?.(named(store, secretKey))]);
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^[0-9a-f]{32}$/);
  });

  it("are those of the client's own scope", async () => {
    const store = memoryStore();
    const partner = new PodPartner({ baseUrl, secretKey, store });
    expect(await partner["~scopeOf"](store)).toBe(await createScopeOf(baseUrl, secretKey)(store));
  });

  it("hold no secret, neither in a key nor in a value", async () => {
    const path = folder.path("store.db");
    const store = sqliteStore(path);
    const client = await open(store);
    for (const key of ["image:1", "render:2", "lease:3"]) await client.set(key, bytes("value"), { expected: null });
    expect(await keysOf(store, "")).toHaveLength(3);
    for (const key of await keysOf(store, "")) expect(key).toMatch(/^pod-partner:\{[0-9a-f]{32}\}:\w+:\d$/);
    await store.close();
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
