import { type KeyValueStorage, memoryStorage, PodPartner, type PodPartnerOptions } from "pod-partner";
import { createManualClock, type ManualClock } from "pod-partner/testing";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { secretKey } from "../support/partner.ts";
import { jpeg } from "../support/pictures.ts";
import { ref } from "../support/references.ts";
import { type StubResponse, type StubService, startStubService } from "../support/stub-service.ts";

export const etag = '"v1"';
export const lastModified = "Wed, 18 Nov 2026 08:00:00 GMT";

/** The headers of the specification: of a completed render (4.6, rule 3), of an example image (4.3), of a layer image (4.3). */
export const immutable = { "cache-control": "private, max-age=31536000, immutable", etag };
export const revalidated = { "cache-control": "private, no-cache", etag, "last-modified": lastModified };
export const unsaid = { etag, "last-modified": lastModified };

/** A file with these headers. */
export const file = (headers: Readonly<Record<string, string>>, body: Uint8Array = jpeg): StubResponse => ({
  headers: { "content-type": "image/jpeg", ...headers },
  body,
});

/** Bytes that begin as a JPEG, each different from its neighbours. */
export function largeFile(length: number): Uint8Array {
  const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 9)) % 251);
  bytes.set(jpeg.subarray(0, 4));
  return bytes;
}

interface CacheContext {
  readonly service: StubService;
  readonly clock: ManualClock;
  readonly storage: KeyValueStorage;
  /** Waits until the cache does nothing in the background. */
  idle(): Promise<void>;
  /** A client with a cache in `storage`. */
  client(options?: PodPartnerOptions): PodPartner;
}

/** A storage in memory, and a function that waits until nothing has used it for some turns of the event loop. */
export function watchedStorage(clock: ManualClock) {
  const inner = memoryStorage({ clock });
  let operations = 0;
  const counted =
    <Given extends readonly unknown[], Result>(work: (...given: Given) => Result) =>
    (...given: Given): Result => {
      operations += 1;
      return work(...given);
    };
  const storage: KeyValueStorage = {
    ...inner,
    get: counted(inner.get),
    set: counted(inner.set),
    delete: counted(inner.delete),
    keys: counted(inner.keys),
  };
  const idle = async () => {
    for (let [quiet, seen] = [0, operations]; quiet < 25; seen = operations) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      quiet = seen === operations ? quiet + 1 : 0;
    }
  };
  return { storage, idle };
}

/** A stub of the service, and before each test a new clock and a new storage. */
export function useCache(): CacheContext {
  let service: StubService | undefined;
  let clock = createManualClock();
  let { storage, idle } = watchedStorage(clock);
  const started = (): StubService => service ?? expect.fail("useCache() works only inside a test");

  beforeAll(async () => {
    service = await startStubService();
  });
  beforeEach(() => {
    service?.reset();
    clock = createManualClock();
    ({ storage, idle } = watchedStorage(clock));
  });
  afterAll(() => service?.close());

  return {
    get service() {
      return started();
    },
    get clock() {
      return clock;
    },
    get storage() {
      return storage;
    },
    idle: () => idle(),
    client: (options) =>
      new PodPartner({
        baseUrl: started().baseUrl,
        secretKey,
        clock,
        storage,
        fileCache: true,
        retry: { retries: 0 },
        ...options,
      }),
  };
}

/** Lets everything happen that needs no caller and no time. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
}

/** Downloads the file that all these tests use. */
export const media = (partner: PodPartner, headers?: Readonly<Record<string, string>>) =>
  partner.catalog.products.media(ref("Product"), "front.jpg", { headers });

/** Downloads it and reads it. */
export async function read(
  partner: PodPartner,
  headers?: Readonly<Record<string, string>>,
): Promise<{ readonly fromCache: boolean; readonly bytes: Uint8Array }> {
  const download = await media(partner, headers);
  return { fromCache: download.fromCache, bytes: await download.bytes() };
}

/** The keys of the files in a storage, without the part of the organization. */
export async function fileKeys(storage: KeyValueStorage): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const key of storage.keys("")) keys.push(key.replace(/^pod-partner:\{\w+\}:/, ""));
  return keys.filter((key) => key.startsWith("file:")).sort();
}
