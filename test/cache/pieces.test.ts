import type { KeyValueStorage } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { ref } from "../support/references.ts";
import { file, fileKeys, immutable, largeFile, media, read, useCache } from "./support.ts";

/** Three pieces: two of 256 KiB, and a short one. */
const body = largeFile(600_000);
const same = (bytes: Uint8Array, other = body) => Buffer.from(bytes).equals(other);

/** The full key of a piece. */
async function keyOf(storage: KeyValueStorage, piece: number): Promise<string> {
  for await (const key of storage.keys("")) if (key.endsWith(`:${piece}`)) return key;
  return expect.fail(`piece ${piece} is not stored`);
}

const losses: Readonly<Record<string, (storage: KeyValueStorage, piece: number) => Promise<void>>> = {
  missing: async (storage, piece) => void (await storage.delete(await keyOf(storage, piece))),
  damaged: async (storage, piece) => {
    const key = await keyOf(storage, piece);
    const bytes = (await storage.get(key)) ?? expect.fail("the piece is gone");
    bytes[1_000] = (bytes[1_000] ?? 0) ^ 1;
    await storage.set(key, bytes);
  },
  short: async (storage, piece) => {
    const key = await keyOf(storage, piece);
    await storage.set(key, ((await storage.get(key)) ?? new Uint8Array()).slice(0, 900));
  },
};

describe.each(Object.entries(losses))("a cached file with a %s piece", (_, lose) => {
  const context = useCache();

  it("counts as absent if it is the first piece", async () => {
    context.service.respondAlways(file(immutable, body));
    const partner = context.client();
    await read(partner);
    await lose(context.storage, 0);
    const { fromCache, bytes } = await read(partner);
    expect([fromCache, same(bytes)]).toEqual([false, true]);
    expect((await read(partner)).fromCache).toBe(true);
    expect(context.service.requests).toHaveLength(2);
  });

  it.each([1, 2])("continues with the service's bytes from piece %i, and stores them again", async (piece) => {
    context.service.respondAlways(file(immutable, body));
    const partner = context.client();
    await read(partner);
    await lose(context.storage, piece);
    const { fromCache, bytes } = await read(partner);
    expect([fromCache, same(bytes)]).toEqual([true, true]);
    expect(context.service.requests).toHaveLength(2);
    expect(context.service.requests[1]?.headers).not.toHaveProperty("if-none-match");
    const third = await read(partner);
    expect([third.fromCache, same(third.bytes)]).toEqual([true, true]);
    expect(context.service.requests).toHaveLength(2);
  });
});

describe("a cached file whose lost piece the service does not deliver", () => {
  const context = useCache();
  const responses = {
    "before its response": () => new Promise<Response>(() => undefined),
    "in the middle of its response": async () => {
      const begun = new ReadableStream({ start: (controller) => controller.enqueue(body.subarray(0, 1_000)) });
      return new Response(begun, { headers: { ...file(immutable).headers } });
    },
  };

  it.each(Object.entries(responses).flatMap((one) => ["cancel", "timeout"].map((how) => [how, ...one] as const)))(
    "requests nothing more after a %s %s",
    async (how, _, respond) => {
      context.service.respond(file(immutable, body));
      const sent: AbortSignal[] = [];
      const fetch = (_: Request, init?: RequestInit) => {
        sent.push(init?.signal ?? expect.fail("no signal"));
        return respond();
      };
      await read(context.client());
      await context.storage.delete(await keyOf(context.storage, 1));
      const reader = (await media(context.client({ fetch, timeout: 5_000 }))).stream().getReader();
      await reader.read();
      await context.clock.advance(1_000);
      const next = rejection(reader.read()).catch(() => undefined);
      await expect.poll(() => sent.length).toBe(1);
      await context.idle();
      if (how === "cancel") await reader.cancel();
      // The request began after the download: its own timeout comes later.
      else await context.clock.advance(4_000);
      await next;
      await context.idle();
      expect([sent.length, sent[0]?.aborted, context.clock.pending]).toEqual([1, true, 0]);
    },
  );
});

describe("a cached file of several pieces", () => {
  const context = useCache();

  it("has all its bytes in a client without a storage, which caches in memory", async () => {
    context.service.respondAlways(file(immutable, body));
    const partner = context.client({ storage: undefined });
    await read(partner);
    const { fromCache, bytes } = await read(partner);
    expect([fromCache, same(bytes)]).toEqual([true, true]);
  });

  it("continues without the conditions of a caller who has another version", async () => {
    context.service.respondAlways(file(immutable, body));
    const partner = context.client();
    await read(partner);
    await context.storage.delete(await keyOf(context.storage, 1));
    const given = await partner.catalog.products.media(ref("Product"), "front.jpg", { etag: '"v0"' });
    if (!given.modified) expect.fail("not modified");
    expect(same(await given.bytes())).toBe(true);
    expect(context.service.requests[1]?.headers).not.toHaveProperty("if-none-match");
  });

  it("is downloaded again after a 304 that forbids to store it", async () => {
    const headers = { "cache-control": "private, no-cache", "last-modified": "Wed, 18 Nov 2026 08:00:00 GMT" };
    const forbids = { ...headers, "cache-control": "no-store" };
    context.service.respond(file(headers, body), { status: 304, headers: forbids }, file(forbids, body));
    await read(context.client());
    expect(same((await read(context.client())).bytes)).toBe(true);
    expect(await fileKeys(context.storage)).toEqual([]);
  });
});

/** The headers of a completed render (specification 4.6, rule 3): without an ETag. */
const render = { "cache-control": "private, max-age=31536000, immutable" };

describe("a cached render without an ETag", () => {
  const context = useCache();

  it("continues with the response of the service when a piece is lost, because it is immutable", async () => {
    context.service.respondAlways(file(render, body));
    const partner = context.client();
    await read(partner);
    await losses.missing?.(context.storage, 1);
    expect(same((await read(partner)).bytes)).toBe(true);
    expect(context.service.requests).toHaveLength(2);
  });

  it("does not continue with a file of another length", async () => {
    context.service.respond(file(render, body), file(render, body.subarray(0, -1)));
    const partner = context.client();
    await read(partner);
    await losses.missing?.(context.storage, 1);
    expect(await rejection(read(partner))).toMatchObject({ name: "ConnectionError" });
  });
});

describe("a cached file that cannot continue", () => {
  const context = useCache();
  const { missing } = losses;

  it.each([
    ["another version", immutable, { ...immutable, etag: '"v2"' }],
    ["a weak ETag", { ...immutable, etag: 'W/"v1"' }, { ...immutable, etag: 'W/"v1"' }],
    ["no ETag", { "cache-control": "max-age=60" }, { "cache-control": "max-age=60" }],
    ["no ETag, once immutable", render, { "cache-control": "max-age=60" }],
  ])("ends with a ConnectionError, and the next download gets the file: %s", async (_, first, headers) => {
    context.service.respond(file(first, body), file(headers, body), file(headers, body));
    const partner = context.client();
    await read(partner);
    await missing?.(context.storage, 1);
    const error = await rejection(read(partner));
    expect(error).toMatchObject({ name: "ConnectionError", isRetryable: true });
    expect(String(error)).toMatch(/a part of the cached file was lost/);
    expect(same((await read(partner)).bytes)).toBe(true);
  });

  it.each([
    ["shorter", body.subarray(0, -1)],
    ["longer", largeFile(600_001)],
    ["shorter than what was read", body.subarray(0, 1_000)],
  ])("ends with a ConnectionError when the file of the same ETag is %s", async (_, other) => {
    context.service.respond(file(immutable, body), file(immutable, other));
    const partner = context.client();
    await read(partner);
    await missing?.(context.storage, 1);
    expect(await rejection(read(partner))).toMatchObject({ name: "ConnectionError", isRetryable: true });
  });

  it("ends with the error of the service", async () => {
    context.service.respond(file(immutable, body), { status: 404, body: { code: "not_found", message: "Gone." } });
    const partner = context.client();
    await read(partner);
    await missing?.(context.storage, 1);
    const error = await rejection(read(partner));
    expect(error).toMatchObject({ name: "NotFoundError", code: "not_found" });
  });

  it("ends with the caller's reason when it aborts meanwhile", async () => {
    const abort = new AbortController();
    const reason = new Error("left");
    context.service.respond(file(immutable, body), ({ gone }) => {
      abort.abort(reason);
      return new Promise((resolve) => gone.addEventListener("abort", () => resolve({ status: 500 })));
    });
    const partner = context.client();
    await read(partner);
    await missing?.(context.storage, 1);
    const download = await partner.catalog.products.media(ref("Product"), "front.jpg", { signal: abort.signal });
    expect(await rejection(download.bytes())).toBe(reason);
  });
});

describe("two downloads of one file at the same time", () => {
  const context = useCache();

  it("send a request each, and leave one copy", async () => {
    context.service.respondAlways(file(immutable, body));
    const partner = context.client();
    const [one, other] = await Promise.all([media(partner), media(partner)]);
    const bytes = await Promise.all([one.bytes(), other.bytes()]);
    expect(bytes.map((each) => same(each))).toEqual([true, true]);
    expect(context.service.requests).toHaveLength(2);
    await expect.poll(() => fileKeys(context.storage)).toHaveLength(4);
    expect(same((await read(partner)).bytes)).toBe(true);
  });

  it("keep the first copy, which a third caller may be reading", async () => {
    context.service.respondAlways(file({ "cache-control": "max-age=60" }, body));
    const partner = context.client();
    const [one, other] = await Promise.all([media(partner), media(partner)]);
    await one.bytes();
    const third = await media(partner);
    expect(third.fromCache).toBe(true);
    await other.bytes();
    await context.idle();
    expect(same(await third.bytes())).toBe(true);
    expect(context.service.requests).toHaveLength(2);
  });
});
