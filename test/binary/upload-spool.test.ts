import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { createManualClock } from "pod-partner/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ImageUploadOptions } from "../../src/resources/upload.ts";
import { rejection } from "../support/exchange.ts";
import { largePicture } from "../support/large-picture.ts";
import { useService } from "../support/partner.ts";
import { png } from "../support/pictures.ts";
import { partnerOf, someImage, spooledFiles } from "../support/uploads.ts";

/** A stream that waits for `release` after its first chunks. */
function stalled() {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let closed = false;
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(png),
    pull: async (controller) => {
      await held;
      if (!closed) controller.close();
    },
    cancel: () => {
      closed = true;
    },
  });
  return { source, release, isClosed: () => closed };
}

describe("a stream that is uploaded once", () => {
  const context = useService();
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "spool-"));
    vi.stubEnv("TMPDIR", folder);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });
  const isEmpty = () => expect.poll(spooledFiles).toEqual([]);

  it("is in a file of this user only while it is sent, which is removed afterwards", async () => {
    let mode = 0;
    const listeners = process.listenerCount("exit");
    context.service.respond(async () => {
      const [name = ""] = await readdir(folder);
      mode = (await stat(join(folder, name))).mode & 0o777;
      return someImage;
    });
    await context.partner.images.uploadOnce(Readable.from([png]));
    expect(mode).toBe(0o600);
    await isEmpty();
    await expect.poll(() => process.listenerCount("exit")).toBe(listeners);
  });

  it("is sent again from the file after a failed attempt", async () => {
    const partner = partnerOf(context.service, { retry: { retries: 2, baseDelay: 0 } });
    context.service.respond({ status: 503 }, { status: 503 }, someImage);
    expect(await partner.images.uploadOnce(Readable.from([png]))).toMatchObject({ uploaded: true });
    expect(context.service.requests.map(({ body }) => body.equals(png))).toEqual([true, true, true]);
    await isEmpty();
  });

  it("is removed after a failed upload", async () => {
    context.service.respond({ status: 403 });
    await rejection(context.partner.images.uploadOnce(Readable.from([png])));
    await isEmpty();
  });

  it.each<
    [string, (clock: ReturnType<typeof createManualClock>, abort: AbortController) => ImageUploadOptions, object]
  >([
    ["an abort", (_, { signal }) => ({ signal }), { name: "AbortError" }],
    [
      "timeout",
      () => ({ timeout: 500 }),
      { name: "RequestTimeoutError", message: /source .* was not ready within 500 ms/ },
    ],
    ["deadline", () => ({ deadline: 500 }), { name: "DeadlineError" }],
  ])("is closed and removed at the %s while its source stalls", async (_, optionsOf, expected) => {
    const clock = createManualClock();
    const partner = partnerOf(context.service, { clock });
    const { source, isClosed } = stalled();
    const abort = new AbortController();
    const failed = rejection(partner.images.uploadOnce(source, optionsOf(clock, abort)));
    await expect.poll(async () => (await spooledFiles()).length).toBe(1);
    abort.abort();
    await clock.advance(500);
    const { message = /./, ...fields } = expected as { message?: RegExp };
    const error = await failed;
    expect(error).toMatchObject(fields);
    expect((error as Error).message).toMatch(message);
    await isEmpty();
    expect([isClosed(), clock.pending, context.service.requests.length]).toEqual([true, 0, 0]);
  });

  it("is closed if the call was aborted before", async () => {
    const { source, isClosed } = stalled();
    const error = await rejection(context.partner.images.uploadOnce(source, { signal: AbortSignal.abort("no") }));
    expect(error).toBe("no");
    await expect.poll(isClosed).toBe(true);
    await isEmpty();
  });

  it("is removed if its source fails, or yields something other than bytes", async () => {
    async function* failing() {
      yield png;
      throw new Error("the disk is gone");
    }
    const failed = await rejection(context.partner.images.uploadOnce(failing()));
    expect(failed).toMatchObject({ name: "RequestValidationError", endpoint: "POST /images" });
    expect((failed as Error).message).toContain("the disk is gone");
    const text = await rejection(context.partner.images.uploadOnce(Readable.from([png, "text"].values())));
    expect((text as Error).message).toContain("other than bytes");
    await isEmpty();
    expect(context.service.requests).toHaveLength(0);
  });

  it("fails with the reason of the file system if there is no folder for it", async () => {
    vi.stubEnv("TMPDIR", join(folder, "missing"));
    const error = await rejection(context.partner.images.uploadOnce(Readable.from([png])));
    expect(error).toMatchObject({ name: "RequestValidationError" });
    expect((error as Error).message).toMatch(/temporary file: ENOENT/);
  });

  it("is not kept in memory", async () => {
    const { source, size, alive } = largePicture();
    context.service.respond(someImage);
    await context.partner.images.uploadOnce(source);
    expect(context.service.requests[0]?.body).toHaveLength(size);
    expect(alive()).toBeLessThan(20);
  });

  it("is removed when the process exits while the upload runs", async () => {
    const program = `
      import { PodPartner } from ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)};
      const partner = new PodPartner({ baseUrl: "http://127.0.0.1:1/v2", secretKey: "a-secret-key" });
      const source = new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(${JSON.stringify([...png])})) });
      partner.images.uploadOnce(source).catch(() => undefined);
      const { readdirSync } = await import("node:fs");
      while (readdirSync(${JSON.stringify(folder)}).length === 0) await new Promise(setImmediate);
      console.log(readdirSync(${JSON.stringify(folder)}).length);
      process.exit();`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
    expect(stdout.trim()).toBe("1");
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("a runtime without node:fs and node:crypto", () => {
  const context = useService();
  const builtin = process.getBuiltinModule;
  beforeEach(() => {
    vi.spyOn(process, "getBuiltinModule").mockImplementation(((name: string) =>
      name === "node:fs" || name === "node:crypto" ? undefined : builtin(name as never)) as typeof builtin);
  });
  afterEach(() => void vi.restoreAllMocks());

  it("keeps a stream in memory, and hashes it to the same value", async () => {
    context.service.respond(someImage);
    const { partner } = context;
    expect(await partner.images.uploadOnce(Readable.from([png]))).toMatchObject({ uploaded: true });
    vi.restoreAllMocks();
    expect(await partner.images.uploadOnce(png)).toMatchObject({ uploaded: false });
  });

  it.each([
    ["a stream", () => Readable.from([png, new Uint8Array(33_554_432)])],
    ["a blob", () => new Blob([png, new Uint8Array(33_554_432)])],
  ])("refuses %s of more than 32 MiB", async (_, source) => {
    const error = await rejection(context.partner.images.uploadOnce(source()));
    expect(error).toMatchObject({ name: "RequestValidationError", endpoint: "POST /images" });
    expect((error as Error).message).toMatch(/33554432 bytes.*images\.upload/);
    expect(context.service.requests).toHaveLength(0);
  });
});
