import { type KeyValueStorage, memoryStorage } from "pod-partner";
import { describe, expect, it } from "vitest";
import { ref } from "../support/references.ts";
import { file, fileKeys, immutable, largeFile, useCache } from "./support.ts";

const size = 300_000;
const minute = 60_000;

describe("the limit of the cached files", () => {
  const context = useCache();

  const image = async (name: string, partner = context.client({ fileCache: { maxSize: 1_000_000 } })) => {
    const download = await partner.catalog.products.media(ref("Product"), name);
    await download.bytes();
    await context.idle();
    return download.fromCache;
  };
  const heads = async () => (await fileKeys(context.storage)).filter((key) => key.split(":").length === 2).length;

  it("removes the least recently used file first, whichever process has stored it", async () => {
    context.service.respondAlways(file(immutable, largeFile(size)));
    const { storage: inner } = context;
    // A memory storage lists what was stored first, first.
    const storage: KeyValueStorage = {
      ...inner,
      async *keys(prefix) {
        const keys: string[] = [];
        for await (const key of inner.keys(prefix)) keys.unshift(key);
        yield* keys;
      },
    };
    const partner = () => context.client({ storage, fileCache: { maxSize: 1_000_000 } });
    for (const name of ["a.jpg", "b.jpg", "c.jpg"]) {
      await image(name, partner());
      await context.clock.advance(minute);
    }
    expect(await image("a.jpg")).toBe(true);
    // Pieces without a head would be removed after an hour.
    await context.clock.advance(61 * minute);
    await image("d.jpg", partner());
    await expect.poll(heads).toBe(3);
    expect(await image("a.jpg")).toBe(true);
    expect(await image("c.jpg")).toBe(true);
    expect(await image("d.jpg")).toBe(true);
    expect(await image("b.jpg")).toBe(false);
  });

  it("holds for one client that downloads many files", async () => {
    context.service.respondAlways(file(immutable, largeFile(size)));
    const partner = context.client({ fileCache: { maxSize: 1_000_000 } });
    for (let index = 0; index < 8; index += 1) {
      await image(`${index}.jpg`, partner);
      await context.clock.advance(minute);
    }
    await expect.poll(heads).toBe(3);
    expect(await image("7.jpg", partner)).toBe(true);
    // Nothing of the removed files is left: three heads, and two pieces of each.
    await expect.poll(() => fileKeys(context.storage)).toHaveLength(9);
  });

  it("is exceeded by a tenth at most, and looked at only once for each tenth that is stored", async () => {
    context.service.respondAlways(file(immutable, largeFile(10_000)));
    let looks = 0;
    const { storage } = context;
    const counting = {
      ...storage,
      keys: (prefix: string) => {
        looks += 1;
        return storage.keys(prefix);
      },
    };
    const partner = context.client({ storage: counting, fileCache: { maxSize: 200_000 } });
    for (let index = 0; index < 30; index += 1) {
      await image(`${index}.jpg`, partner);
      expect(await heads()).toBeLessThanOrEqual(22);
      await context.clock.advance(minute);
    }
    expect(await heads()).toBeGreaterThanOrEqual(20);
    // The first file, and then each third: three have more than a tenth of the limit.
    expect(looks).toBe(10);
  });

  it("is looked at by one process at a time, so that two do not remove twice as much", async () => {
    context.service.respondAlways(file(immutable, largeFile(size)));
    const { storage } = context;
    const first = Promise.withResolvers<void>();
    let looks = 0;
    const slow: KeyValueStorage = {
      ...storage,
      async *keys(prefix) {
        looks += 1;
        await first.promise;
        yield* storage.keys(prefix);
      },
    };
    const partner = () => context.client({ storage: slow, fileCache: { maxSize: 1_000_000 } });
    for (const name of ["a.jpg", "b.jpg"]) await image(name, partner());
    expect(looks).toBe(1);
    first.resolve();
    await context.idle();
    await image("c.jpg", partner());
    expect(looks).toBe(2);
  });

  it("keeps out a file that is larger, with and without a length", async () => {
    const body = largeFile(1_000_001);
    context.service.respond(file(immutable, body));
    await image("a.jpg");
    expect(await fileKeys(context.storage)).toEqual([]);
    const fetch = async () => new Response(new Blob([body.slice()]).stream(), { headers: immutable });
    await image("b.jpg", context.client({ fetch, fileCache: { maxSize: 1_000_000 } }));
    await expect.poll(() => fileKeys(context.storage)).toEqual([]);
  });

  it("is 32 MiB in a memory storage by default, so that other things keep their place", async () => {
    const storage = memoryStorage({ maxSize: 200 * 1024 * 1024 });
    context.service.respond(file(immutable, new Uint8Array(32 * 1024 * 1024 + 1).fill(1)));
    await image("a.jpg", context.client({ storage }));
    expect(await fileKeys(storage)).toEqual([]);
  });
});

describe("cached files", () => {
  const context = useCache();
  const image = async (options: Parameters<typeof context.client>[0]) => {
    const download = await context.client(options).catalog.products.media(ref("Product"), "front.jpg");
    await download.bytes();
    return download.fromCache;
  };

  it("are not shared by two keys, by two named organizations, or by two services", async () => {
    context.service.respondAlways(file(immutable));
    const { storage, clock } = context;
    const named = (organization: string) => ({ storage: { ...storage, organization } });
    const elsewhere = { baseUrl: `${context.service.origin}/test/v2` };
    const clients = [{}, { secretKey: "another-key-4d5f6" }, named("one"), named("two"), elsewhere];
    for (const options of clients) expect(await image({ clock, ...options })).toBe(false);
    for (const options of clients) expect(await image({ clock, ...options })).toBe(true);
  });

  it("are shared by two keys of one named organization", async () => {
    context.service.respondAlways(file(immutable));
    const storage = { ...context.storage, organization: "one" };
    await image({ storage });
    expect(await image({ storage, secretKey: "another-key-4d5f6" })).toBe(true);
  });

  it("are not kept by their URLs, which can have a signature", async () => {
    context.service.respondAlways(file(immutable));
    const url = `${context.service.origin}/layers/a.png?signature=very-secret`;
    await (await context.client().catalog.products.layerImage(url)).bytes();
    for await (const key of context.storage.keys("")) {
      expect(key).not.toContain("secret");
      expect(Buffer.from((await context.storage.get(key)) ?? []).includes("secret")).toBe(false);
    }
  });
});
