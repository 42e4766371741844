import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { KeyValueStorage } from "pod-partner";
import { memoryStorage, PodPartner } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { afterEach, describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { file, fileKeys, immutable, largeFile, media, read, useCache } from "./support.ts";

const body = largeFile(1_000_000);

describe("a download that ends early leaves nothing in the storage", () => {
  const context = useCache();
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  it("when the caller cancels it", async () => {
    context.service.respond(file(immutable, body));
    const reader = (await media(context.client())).stream().getReader();
    for (let received = 0; received < 600_000; ) received += (await reader.read()).value?.byteLength ?? 0;
    expect((await fileKeys(context.storage)).length).toBeGreaterThan(0);
    await reader.cancel();
    await expect.poll(() => fileKeys(context.storage)).toEqual([]);
  });

  it("when the caller cancels it unread", async () => {
    context.service.respond(file(immutable, body));
    await (await media(context.client())).cancel();
    expect(await fileKeys(context.storage)).toEqual([]);
  });

  it("when the connection breaks", async () => {
    server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "image/jpeg", "content-length": body.length, ...immutable });
      response.write(body.subarray(0, 700_000), () => response.destroy());
    });
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const partner = context.client({ baseUrl: `http://127.0.0.1:${port}/v2` });
    expect(await rejection(read(partner))).toMatchObject({ name: "ConnectionError" });
    await expect.poll(() => fileKeys(context.storage)).toEqual([]);
  });

  it("when the caller reads so slowly that the timeout ends it", async () => {
    context.service.respond(file(immutable, body));
    const reader = (await media(context.client({ timeout: 5_000 }))).stream().getReader();
    for (let received = 0; received < 600_000; ) received += (await reader.read()).value?.byteLength ?? 0;
    await context.clock.advance(5_000);
    expect(await rejection(reader.read())).toMatchObject({ name: "RequestTimeoutError", isTimeout: true });
    await expect.poll(() => fileKeys(context.storage)).toEqual([]);
  });

  it("when the caller does not read it", async () => {
    context.service.respond(file(immutable, body));
    const download = await media(context.client({ timeout: 5_000, hooks: { onUnreadDownload: () => undefined } }));
    await context.clock.advance(5_000);
    expect(await rejection(download.bytes())).toMatchObject({ name: "RequestTimeoutError" });
    expect(await fileKeys(context.storage)).toEqual([]);
  });

  it("when its process was killed: a later process removes the pieces, an hour later", async () => {
    context.service.respondAlways(file(immutable, body));
    const pieces = async () => (await fileKeys(context.storage)).length;
    const killed = (await media(context.client({ timeout: 9_000_000 }))).stream().getReader();
    for (let received = 0; received < 600_000; ) received += (await killed.read()).value?.byteLength ?? 0;
    await context.idle();
    expect(await pieces()).toBe(2);
    await context.clock.advance(3_000_000);
    await read(context.client());
    await context.idle();
    // Its head and its four pieces; the others are too young.
    expect(await pieces()).toBe(7);
    await context.clock.advance(1_000_000);
    await read(context.client(), { "Cache-Control": "no-cache" });
    await context.idle();
    expect(await pieces()).toBe(5);
  });
});

describe("a cached file", () => {
  const context = useCache();

  it("is whole when the caller cancels its download while the end is being stored", async () => {
    context.service.respondAlways(file(immutable, body));
    let store: () => void = () => undefined;
    const { storage } = context;
    const slow: KeyValueStorage = {
      ...storage,
      set: async (key, value, options) => {
        if (/file:\w+$/.test(key))
          await new Promise<void>((resolve) => {
            store = resolve;
          });
        return storage.set(key, value, options);
      },
    };
    const reader = (await media(context.client({ storage: slow }))).stream().getReader();
    for (let received = 0; received < body.length; ) received += (await reader.read()).value?.byteLength ?? 0;
    const end = reader.read();
    await context.idle();
    await reader.cancel();
    await end;
    store();
    await context.idle();
    expect(await fileKeys(storage)).toHaveLength(5);
    const { fromCache, bytes } = await read(context.client());
    expect([fromCache, Buffer.from(bytes).equals(body)]).toEqual([true, true]);
    expect(context.service.requests).toHaveLength(1);
  });

  it("ends with the timeout when the caller does not read it, and reports it", async () => {
    context.service.respond(file(immutable, body));
    const unread: string[] = [];
    const partner = context.client({ timeout: 5_000, hooks: { onUnreadDownload: ({ error }) => unread.push(error) } });
    await read(partner);
    const download = await media(partner);
    expect(download.fromCache).toBe(true);
    await context.clock.advance(5_000);
    expect(await rejection(download.bytes())).toMatchObject({ name: "RequestTimeoutError" });
    expect(unread).toEqual(["RequestTimeoutError"]);
  });

  it("leaves no timer when it was read or canceled", async () => {
    context.service.respond(file(immutable, body));
    const clock = createManualClock();
    let timers = 0;
    const counting = {
      now: () => clock.now(),
      after: (ms: number, callback: () => void) => {
        timers += 1;
        const cancel = clock.after(ms, callback);
        let open = true;
        return () => {
          if (open) timers -= 1;
          open = false;
          cancel();
        };
      },
    };
    const partner = context.client({ clock: counting, deadline: 60_000 });
    await read(partner);
    await read(partner);
    await (await media(partner)).cancel();
    await new Promise(setImmediate);
    expect(timers).toBe(0);
  });

  it("ends with the caller's reason when it aborts", async () => {
    context.service.respond(file(immutable, body));
    const partner = context.client();
    await read(partner);
    const abort = new AbortController();
    const reason = new Error("left");
    const download = await partner.catalog.products.media(ref("Product"), "front.jpg", { signal: abort.signal });
    const reader = download.stream().getReader();
    await reader.read();
    abort.abort(reason);
    expect(await rejection(reader.read())).toBe(reason);
  });
});

describe("a storage that fails", () => {
  const context = useCache();

  const failing = (work: () => Promise<never>): KeyValueStorage => ({
    kind: "broken",
    get: work,
    set: work,
    delete: work,
    async *keys() {
      yield await work();
    },
  });

  it.each([
    ["at once", () => Promise.reject(new Error("broken"))],
    ["never", () => new Promise<never>(() => undefined)],
  ])("never fails a download, if it fails %s", async (title, work) => {
    context.service.respondAlways(file(immutable, body));
    const lost: string[] = [];
    const hooks = { onStorageLost: ({ reason }: { reason: string }) => void lost.push(reason) };
    const { baseUrl } = context.service;
    const clock = createManualClock();
    const partner = new PodPartner({ baseUrl, secretKey, storage: failing(work), fileCache: true, hooks, clock });
    const reading = read(partner);
    if (title === "never") await expect.poll(() => clock.advance(1_000).then(() => lost.length)).toBe(1);
    const { fromCache, bytes } = await reading;
    expect([fromCache, Buffer.from(bytes).equals(body)]).toEqual([false, true]);
    expect(lost).toHaveLength(1);
  });

  it("that is slow takes at most a quarter of the timeout", async () => {
    const large = largeFile(20 * 256 * 1024);
    const inner = memoryStorage();
    const clock = createManualClock();
    let sets = 0;
    const slow: KeyValueStorage = {
      kind: "slow",
      get: (key) => inner.get(key),
      delete: (key) => inner.delete(key),
      keys: (prefix) => inner.keys(prefix),
      set: async (key, value, options) => {
        sets += 1;
        await clock.advance(900);
        return inner.set(key, value, options);
      },
    };
    const partner = new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      storage: slow,
      fileCache: true,
      clock,
      timeout: 8_000,
      // The whole file is there at once: only the storage takes time.
      fetch: async () => new Response(large, { headers: { ...file(immutable).headers } }),
    });
    await read(partner);
    expect(sets).toBeLessThan(5);
    await expect.poll(() => fileKeys(inner)).toEqual([]);
  });
});
