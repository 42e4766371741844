import { existsSync } from "node:fs";
import { type FileHandle, mkdtemp, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectionError, PodPartner, RequestTimeoutError } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const picture = new Uint8Array(300_000).map((_, index) => index % 251);

/** A body with these chunks that then does what `end` says. */
const bodyOf = (pieces: readonly Uint8Array[], end: "close" | "stall" | Error) => {
  const left = [...pieces];
  const state = { canceled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = left.shift();
      if (next !== undefined) controller.enqueue(next);
      else if (end === "close") controller.close();
      else if (end === "stall") return new Promise(() => undefined);
      else controller.error(end);
    },
    cancel: () => {
      state.canceled = true;
    },
  });
  return { body, state };
};

describe("a download", () => {
  const context = useService();
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const served = async () => {
    context.service.respond({ headers: { "content-type": "image/png", etag: '"1"' }, body: Buffer.from(picture) });
    return context.partner.renders.media(ref("Render"));
  };
  const faked = (body: ReadableStream<Uint8Array>, options = {}) =>
    new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      fetch: async () => new Response(body),
      ...options,
    }).renders.media(ref("Render"));

  it("has its content type, ETag and size", async () => {
    const download = await served();
    expect(download).toMatchObject({ contentType: "image/png", etag: '"1"', size: picture.length, modified: true });
    await download.cancel();
  });

  it("returns its bytes, and reports progress up to its size", async () => {
    const seen: number[] = [];
    const bytes = await (await served()).bytes({ onProgress: ({ received }) => seen.push(received) });
    expect(Buffer.from(bytes).equals(Buffer.from(picture))).toBe(true);
    expect(seen.at(-1)).toBe(picture.length);
  });

  it("returns a blob with its content type", async () => {
    const blob = await (await served()).blob();
    expect(blob).toMatchObject({ type: "image/png", size: picture.length });
  });

  it("saves a complete file over an older one, and leaves no temporary file", async () => {
    const path = join(folder, "mockup.png");
    await writeFile(path, "older");
    await (await served()).saveTo(path);
    expect((await readFile(path)).equals(Buffer.from(picture))).toBe(true);
    expect(await readdir(folder)).toEqual(["mockup.png"]);
  });

  it("flushes all bytes to the disk before the file gets its name, so that a crash cannot leave an empty file", async () => {
    const probe = await open(import.meta.filename);
    const handles: FileHandle = Object.getPrototypeOf(probe);
    await probe.close();
    const path = join(folder, "synced.png");
    const synced: unknown[] = [];
    const { sync } = handles;
    const spy = vi.spyOn(handles, "sync").mockImplementation(async function (this: FileHandle) {
      synced.push({ written: (await this.stat()).size, appeared: existsSync(path) });
      await sync.call(this);
    });
    await (await served()).saveTo(path).finally(() => spy.mockRestore());
    await rm(path);
    expect(synced).toEqual([{ written: picture.length, appeared: false }]);
  });

  it("keeps the older file when the connection breaks, and leaves no temporary file", async () => {
    const path = join(folder, "mockup.png");
    await writeFile(path, "older");
    const { body } = bodyOf([picture], new Error("socket hang up"));
    await expect((await faked(body)).saveTo(path)).rejects.toMatchObject({ name: "ConnectionError", sent: true });
    expect(await readFile(path, "utf8")).toBe("older");
    expect(await readdir(folder)).toEqual(["mockup.png"]);
  });

  it("cancels the body when the file cannot be written", async () => {
    const { body, state } = bodyOf([picture], "stall");
    await writeFile(join(folder, "taken"), "not a folder");
    await expect((await faked(body)).saveTo(join(folder, "taken", "mockup.png"))).rejects.toMatchObject({
      code: "ENOTDIR",
    });
    expect(state.canceled).toBe(true);
  });

  it("ends at the attempt's timeout when its body stalls", async () => {
    const { body } = bodyOf([picture], "stall");
    const error = await (await faked(body, { timeout: 30 })).bytes().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RequestTimeoutError);
    expect(error).toMatchObject({ endpoint: "GET /renders/{renderReference}/media" });
  });

  it("ends with the caller's reason when it is aborted while it is read", async () => {
    const { body } = bodyOf([picture], "stall");
    const abort = new AbortController();
    const partner = new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      fetch: async () => new Response(body),
    });
    const download = await partner.renders.media(ref("Render"), { signal: abort.signal });
    const bytes = download.bytes({ onProgress: () => abort.abort("enough") });
    await expect(bytes).rejects.toBe("enough");
  });

  it("throws a ConnectionError when its connection breaks", async () => {
    const { body } = bodyOf([picture], new Error("socket hang up"));
    await expect((await faked(body)).bytes()).rejects.toBeInstanceOf(ConnectionError);
  });

  it.each<[string, "close" | Error, Record<string, string>, object | undefined]>([
    ["is complete", "close", {}, undefined],
    ["breaks", new Error("socket hang up"), {}, { name: "ConnectionError", sent: true }],
    [
      "was truncated",
      "close",
      { "content-encoding": "gzip" },
      { name: "ConnectionError", sent: true, message: expect.stringContaining("so the SDK cannot check") },
    ],
  ])("leaves no timer when it %s", async (_, end, headers, fault) => {
    const clock = createManualClock();
    const { body } = bodyOf([picture], end);
    const fetch = async () => new Response(body, { headers });
    const partner = new PodPartner({ baseUrl: context.service.baseUrl, secretKey, clock, fetch });
    const download = await partner.renders.media(ref("Render"), { timeout: 1_000, deadline: 2_000 });
    expect(clock.pending).toBeGreaterThan(0);
    const error = await download.bytes().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (fault === undefined) expect(error).toBeUndefined();
    else expect(error).toMatchObject({ ...fault, endpoint: "GET /renders/{renderReference}/media" });
    expect(clock.pending).toBe(0);
  });
});
