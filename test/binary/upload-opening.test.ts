import { createReadStream } from "node:fs";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type ImageSource, PodPartner, type RequestOptions, RequestTimeoutError } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { secretKey } from "../support/partner.ts";
import { png } from "../support/pictures.ts";
import { ref } from "../support/references.ts";

/** A source that stalls after its first bytes, and whether it was closed. */
type Stalled = readonly [source: ImageSource, isLetGo: () => boolean];

const stalled: Readonly<Record<string, (first?: Uint8Array) => Stalled>> = {
  "a Node stream": (first) => {
    const stream = new PassThrough();
    if (first !== undefined) stream.write(first);
    return [stream, () => stream.destroyed];
  },
  "a Node stream that fails when it is closed": (first) => {
    const stream = new PassThrough({ destroy: (_, callback) => callback(new Error("the disk is gone")) });
    if (first !== undefined) stream.write(first);
    return [stream, () => stream.destroyed];
  },
  "a web stream": (first) => {
    let canceled = false;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => first && controller.enqueue(first),
      cancel: () => {
        canceled = true;
      },
    });
    return [stream, () => canceled];
  },
  "a web stream of bytes": (first) => {
    let canceled = false;
    const stream = new ReadableStream({
      type: "bytes",
      start: (controller) => first && controller.enqueue(Uint8Array.from(first)),
      pull: () => new Promise<void>(() => undefined),
      cancel: () => {
        canceled = true;
        // The SDK must not wait for a source that never reports its close.
        return new Promise<void>(() => undefined);
      },
    });
    return [stream, () => canceled];
  },
};
const moments = { "before its first byte": undefined, "in its signature": png.subarray(0, 5) };
const cases = Object.entries(stalled).flatMap(([what, make]) =>
  Object.entries(moments).map(([when, first]) => [what, when, () => make(first)] as const),
);

const response = { image: { reference: ref("Image") } };

/** A client whose clock does not move, and its requests. */
function connect() {
  const clock = createManualClock();
  const sent: Request[] = [];
  const partner = new PodPartner({
    baseUrl: "http://service.test/v2",
    secretKey,
    clock,
    retry: { retries: 0 },
    fetch: async (request) => {
      sent.push(request);
      return Response.json(response);
    },
  });
  return { clock, sent, partner };
}

describe("opening the source of an upload ends with the call, and closes the source", () => {
  const begin = async (source: ImageSource, options: RequestOptions) => {
    const { clock, sent, partner } = connect();
    const failed = rejection(partner.images.upload(source, options));
    await clock.advance(0);
    return { clock, sent, failed };
  };

  it.each(cases)("at its timeout: %s that stalls %s", async (_, __, make) => {
    const [source, isLetGo] = make();
    const { clock, sent, failed } = await begin(source, { timeout: 500 });
    expect(isLetGo()).toBe(false);
    await clock.advance(500);
    const error = await failed;
    if (!RequestTimeoutError.isInstance(error)) throw error;
    expect(error).toMatchObject({ endpoint: "POST /images", isRetryable: true });
    expect(error.message).toMatch(/source.*500 ms.*Nothing was sent/);
    expect([isLetGo(), sent.length, clock.pending]).toEqual([true, 0, 0]);
  });

  it.each(cases)("at its deadline: %s that stalls %s", async (_, __, make) => {
    const [source, isLetGo] = make();
    const { clock, sent, failed } = await begin(source, { deadline: 300 });
    await clock.advance(300);
    expect(await failed).toMatchObject({ name: "DeadlineError" });
    expect([isLetGo(), sent.length, clock.pending]).toEqual([true, 0, 0]);
  });

  it.each(cases)("at an abort: %s that stalls %s", async (_, __, make) => {
    const [source, isLetGo] = make();
    const abort = new AbortController();
    const { clock, sent, failed } = await begin(source, { signal: abort.signal });
    abort.abort("enough");
    expect(await failed).toBe("enough");
    expect([isLetGo(), sent.length, clock.pending]).toEqual([true, 0, 0]);
  });

  it.each(cases)("when it was aborted before: %s that stalls %s", async (_, __, make) => {
    const [source, isLetGo] = make();
    const { clock, sent, failed } = await begin(source, { signal: AbortSignal.abort("never mind") });
    expect(await failed).toBe("never mind");
    expect([isLetGo(), sent.length, clock.pending]).toEqual([true, 0, 0]);
  });

  it.each(Object.entries(stalled))("when the bytes are not an image: %s", async (_, make) => {
    const [source, isLetGo] = make(new TextEncoder().encode("GIF89a and more of it"));
    const { clock, sent, failed } = await begin(source, {});
    expect(await failed).toMatchObject({ name: "RequestValidationError" });
    expect([isLetGo(), sent.length, clock.pending]).toEqual([true, 0, 0]);
  });

  it("when an iterator ignores its return()", async () => {
    const source = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) };
    const { clock, failed } = await begin(source as never, { timeout: 500 });
    await clock.advance(500);
    expect(await failed).toMatchObject({ name: "RequestTimeoutError" });
    expect(clock.pending).toBe(0);
  });

  it("refuses a stream that another reader has locked, and does not close it", async () => {
    const [source, isLetGo] = stalled["a web stream"]?.() ?? expect.fail();
    const reader = (source as ReadableStream).getReader();
    const { failed } = await begin(source, {});
    expect(await failed).toMatchObject({ name: "RequestValidationError", issues: [{ path: [] }] });
    expect(isLetGo()).toBe(false);
    await reader.cancel();
  });

  it("leaves no timer when the first bytes come in time", async () => {
    const { clock, sent, partner } = connect();
    const source = new PassThrough();
    const upload = partner.images.upload(source, { timeout: 500 });
    await clock.advance(400);
    source.end(png);
    expect(await upload).toEqual(response.image);
    expect([sent.length, clock.pending]).toEqual([1, 0]);
  });
});

describe("a stream of an open file", () => {
  let folder = "";
  let path = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
    path = join(folder, "design.png");
    await writeFile(path, Buffer.concat([png, Buffer.alloc(1_000_000)]));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const ends: Readonly<Record<string, RequestOptions>> = {
    "is already aborted": { signal: AbortSignal.abort("never mind") },
    "has an invalid option": { timeout: -1 },
  };

  it.each(Object.entries(ends))("is closed when the call %s", async (_, options) => {
    const { partner } = connect();
    const file = createReadStream(path);
    await rejection(partner.images.upload(file, options));
    await expect.poll(() => file.closed).toBe(true);
    for (const streamOf of ["createReadStream", "readableWebStream"] as const) {
      const handle = await open(path);
      await rejection(partner.images.upload(handle[streamOf]() as never, options));
      await handle.close();
      expect(handle.fd).toBe(-1);
    }
  });
});
