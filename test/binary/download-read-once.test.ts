import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AlreadyReadError, type Download, PodPartner } from "pod-partner";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const picture = Buffer.alloc(5_000, 7);

const uses: Readonly<Record<string, (download: Download, path: string) => unknown>> = {
  bytes: (download) => download.bytes(),
  blob: (download) => download.blob(),
  saveTo: (download, path) => download.saveTo(path),
  "a stream that is read": async (download) => {
    for await (const _ of download.stream());
  },
  "a stream that is read in part": async (download) => {
    for await (const _ of download.stream()) break;
  },
  "a stream that is not read yet": (download) => download.stream(),
  cancel: (download) => download.cancel(),
};
const reads: Readonly<Record<string, (download: Download, path: string) => Promise<unknown>>> = {
  bytes: (download) => download.bytes(),
  blob: (download) => download.blob(),
  saveTo: (download, path) => download.saveTo(path),
  stream: async (download) => download.stream(),
};
const pairs = Object.keys(uses).flatMap((use) => Object.keys(reads).map((read) => [use, read] as const));

describe("the body of a download can be read only once", () => {
  const context = useService();
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const served = () => {
    context.service.respond({ headers: { "content-type": "image/png" }, body: picture });
    return context.partner.renders.media(ref("Render"));
  };

  it.each(pairs)("after %s, %s throws an error and does not replace the existing file", async (use, read) => {
    const path = join(folder, "mockup.png");
    const download = await served();
    await uses[use]?.(download, join(folder, "first.png"));
    await rm(join(folder, "first.png"), { force: true });
    await writeFile(path, "good");
    const error = await rejection(reads[read]?.(download, path) ?? Promise.resolve("no such read"));
    if (!AlreadyReadError.isInstance(error)) throw error;
    expect(error).toMatchObject({ endpoint: "GET /renders/{renderReference}/media", isRetryable: false });
    expect(error.message).toContain(use === "cancel" ? "canceled" : "read");
    expect(error.hint).toContain("repeat the call");
    expect(await readFile(path, "utf8")).toBe("good");
    expect(await readdir(folder)).toEqual(["mockup.png"]);
    await download.cancel();
  });

  it("a second read does not disturb the first", async () => {
    const download = await served();
    const stream = download.stream();
    await rejection(download.saveTo(join(folder, "late.png")));
    expect((await new Response(stream).bytes()).length).toBe(picture.length);
  });

  it("a second cancel has no effect", async () => {
    const download = await served();
    await download.cancel();
    await expect(download.cancel()).resolves.toBeUndefined();
  });

  it("cancel releases a stream with progress that is not read yet", async () => {
    let canceled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(picture),
      cancel: () => {
        canceled = true;
      },
    });
    const fetch = async () => new Response(body);
    const partner = new PodPartner({ baseUrl: context.service.baseUrl, secretKey, fetch });
    const download = await partner.renders.media(ref("Render"));
    download.stream({ onProgress: () => undefined });
    await download.cancel();
    await expect.poll(() => canceled).toBe(true);
  });
});
