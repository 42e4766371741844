import { type KeyValueStorage, memoryStorage, PodPartner } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { secretKey } from "../support/partner.ts";
import { immutable, media, rest, watchedStorage } from "./support.ts";

const mebibyte = 1024 * 1024;
const chunk = 64 * 1024;
const piece = 256 * 1024;

/** A service whose file counts the bytes that were taken of it. */
function countedFile(size: number) {
  const taken = { bytes: 0 };
  const fetch = async () => {
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (taken.bytes === size) return controller.close();
          taken.bytes += chunk;
          controller.enqueue(new Uint8Array(chunk).fill(1));
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, {
      headers: { "content-type": "image/png", "content-length": String(size), ...immutable },
    });
  };
  return { taken, fetch };
}

const clientOf = (fetch: () => Promise<Response>, storage: KeyValueStorage) =>
  new PodPartner({
    baseUrl: "https://service.test/v2",
    secretKey,
    fetch,
    storage,
    clock: createManualClock(),
    fileCache: { maxSize: 100 * mebibyte },
  });

describe("a large file through the cache", () => {
  it("is taken only as fast as the caller reads", async () => {
    const { taken, fetch } = countedFile(64 * mebibyte);
    const reader = (await media(clientOf(fetch, memoryStorage()))).stream().getReader();
    let read = 0;
    for (const stop of [1, 5, 20]) {
      while (read < stop * mebibyte) read += (await reader.read()).value?.byteLength ?? 0;
      await rest();
      expect(taken.bytes - read).toBeLessThanOrEqual(2 * chunk);
    }
    await reader.cancel();
  });

  it("is taken only as fast as the storage stores: two pieces are in memory, one of them on its way", async () => {
    const inner = memoryStorage();
    let [writing, most, largest, stored] = [0, 0, 0, 0];
    let open: () => void = () => undefined;
    const slow: KeyValueStorage = {
      ...inner,
      async set(key, value, options) {
        writing += 1;
        most = Math.max(most, writing);
        largest = Math.max(largest, value.byteLength);
        await new Promise<void>((resolve) => {
          open = resolve;
        });
        writing -= 1;
        stored += value.byteLength;
        return inner.set(key, value, options);
      },
    };
    const { taken, fetch } = countedFile(4 * mebibyte);
    const reading = media(clientOf(fetch, slow)).then((download) => download.bytes());
    let done = false;
    void reading.finally(() => {
      done = true;
    });
    for (let turn = 0; turn < 1_000 && !done; turn += 1) {
      await rest();
      expect(taken.bytes - stored).toBeLessThanOrEqual(2 * piece + 2 * chunk);
      open();
    }
    expect(await reading).toHaveLength(4 * mebibyte);
    expect([most, stored > 4 * mebibyte]).toEqual([1, true]);
    expect(largest).toBeLessThanOrEqual(piece + 8);
  });

  it("comes from the cache only as fast as the caller reads", async () => {
    const { storage: inner, idle } = watchedStorage(createManualClock());
    let gets = 0;
    const counting: KeyValueStorage = {
      ...inner,
      get: (key) => {
        gets += 1;
        return inner.get(key);
      },
    };
    const { fetch } = countedFile(4 * mebibyte);
    const partner = clientOf(fetch, counting);
    await (await media(partner)).bytes();
    await idle();
    gets = 0;
    const reader = (await media(partner)).stream().getReader();
    await rest();
    expect(gets).toBe(2);
    await reader.read();
    await reader.read();
    await rest();
    expect(gets).toBe(3);
    await reader.cancel();
  });
});
