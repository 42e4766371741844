import fc from "fast-check";
import { ConnectionError, type KeyValueStorage, memoryStorage, PodPartner } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { expect, it } from "vitest";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { largeFile } from "./support.ts";

/** Two pieces. */
const length = 300_000;

const body = largeFile(length);
const versions = new Map<string, Uint8Array<ArrayBuffer>>();

/** The bytes of a version of a file. */
function bytesOf(file: number, version: number): Uint8Array<ArrayBuffer> {
  const name = `${file}/${version}`;
  const bytes = versions.get(name) ?? Uint8Array.from(body).fill(version + 10 * file, 4, 60_000);
  versions.set(name, bytes);
  return bytes;
}

/** What happens before an operation of the storage. */
type Trouble = "works" | "rejects" | "loses" | "damages" | "refuses";

const trouble = fc.oneof(
  { weight: 30, arbitrary: fc.constant<Trouble>("works") },
  { weight: 4, arbitrary: fc.constantFrom<Trouble>("rejects", "loses", "damages", "refuses") },
);

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("download" as const), file: fc.nat(2), process: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel" as const), file: fc.nat(2), process: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("replace" as const), file: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 90_000 }) }) },
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const story = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 25 }),
  troubles: fc.array(trouble, { minLength: 1, maxLength: 100 }),
});

/** A storage in which each operation goes as the list says, over and over. */
function troubled(inner: KeyValueStorage, list: readonly Trouble[]): KeyValueStorage {
  let turn = 0;
  const next = () => list[turn++ % list.length];
  const before = async (key: string): Promise<Trouble> => {
    const trouble = next() ?? "works";
    if (trouble === "rejects") throw new Error("the storage failed");
    if (trouble === "loses") await inner.delete(key);
    const bytes = trouble === "damages" ? await inner.get(key) : undefined;
    if (bytes !== undefined) {
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 255;
      await inner.set(key, bytes);
    }
    return trouble;
  };
  return {
    kind: "troubled",
    get: async (key) => before(key).then(() => inner.get(key)),
    set: async (key, value, options) => ((await before(key)) === "refuses" ? false : inner.set(key, value, options)),
    delete: async (key, options) => before(key).then(() => inner.delete(key, options)),
    async *keys(prefix) {
      await before("none");
      yield* inner.keys(prefix);
    },
  };
}

/** A service with three files that are revalidated, fresh for a minute, and fresh for ever. */
function service(now: () => number) {
  const current = [1, 1, 1];
  /** Until when a version of the file may come from a cache. */
  const valid = [0, 1, 2].map(() => new Map([[1, Number.POSITIVE_INFINITY]]));
  const control = ["private, no-cache", "private, max-age=60", "private, max-age=31536000, immutable"];
  const fetch = async (request: Request) => {
    const file = Number(/(\d)\.png$/.exec(request.url)?.[1]);
    const version = current[file] ?? 0;
    const headers = { etag: `"${version}"`, "cache-control": control[file] ?? "", "content-type": "image/png" };
    if (request.headers.get("if-none-match")?.includes(headers.etag))
      return new Response(null, { status: 304, headers });
    return new Response(bytesOf(file, version).slice(), { headers: { ...headers, "content-length": String(length) } });
  };
  const replace = (file: number) => {
    // An immutable file keeps its content.
    if (file === 2) return;
    valid[file]?.set(current[file] ?? 0, file === 0 ? now() : now() + 60_000);
    current[file] = (current[file] ?? 0) + 1;
    valid[file]?.set(current[file] ?? 0, Number.POSITIVE_INFINITY);
  };
  const accepts = (file: number, bytes: Uint8Array) =>
    [...(valid[file] ?? [])].some(
      ([version, until]) => until >= now() && Buffer.from(bytes).equals(bytesOf(file, version)),
    );
  return { fetch, replace, accepts };
}

it("gives the right bytes of a valid version, or a typed error, whatever happens to the storage", {
  timeout: 120_000,
}, async () => {
  let [cached, all, lost] = [0, 0, 0];
  const run = async ({ steps, troubles: list }: { steps: readonly Step[]; troubles: readonly Trouble[] }) => {
    const clock = createManualClock();
    const { fetch, replace, accepts } = service(() => clock.now());
    const storage = troubled(memoryStorage({ clock }), list);
    const hooks = { onStorageLost: () => undefined };
    const partners = [0, 1].map(
      () =>
        new PodPartner({
          baseUrl: "https://service.test/v2",
          secretKey,
          fetch,
          storage,
          clock,
          hooks,
          fileCache: { maxSize: 700_000 },
        }),
    );
    for (const each of steps) {
      if (each.kind === "wait") await clock.advance(each.ms);
      else if (each.kind === "replace") replace(each.file);
      else {
        const download = await partners[each.process]?.catalog.products.media(ref("Product"), `${each.file}.png`);
        if (download === undefined) continue;
        if (each.kind === "cancel") {
          await download.cancel();
          continue;
        }
        all += 1;
        if (download.fromCache) cached += 1;
        try {
          expect(accepts(each.file, await download.bytes())).toBe(true);
        } catch (error) {
          if (!ConnectionError.isInstance(error)) throw error;
          lost += 1;
          expect(download.fromCache).toBe(true);
        }
      }
    }
  };
  await fc.assert(fc.asyncProperty(story, run), { numRuns: 100 });
  // The test is about something: part of the downloads came from the cache, and few could not continue.
  expect(cached).toBeGreaterThan(20);
  expect(lost).toBeLessThan(all / 20);
});
