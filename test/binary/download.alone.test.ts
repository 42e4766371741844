import { channel } from "node:diagnostics_channel";
import { existsSync } from "node:fs";
import { type FileHandle, mkdtemp, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectionError, type Download, PodPartner, type RequestOptions, RequestTimeoutError } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { rejection } from "../support/exchange.ts";
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

const endpoint = "GET /renders/{renderReference}/media";

interface Sent {
  readonly request: object;
  readonly socket: { readonly alpnProtocol?: string; ref(): void; unref(): void };
}

describe("the socket of a download over Node's `fetch`, which tells its sockets on channels", () => {
  const url = "https://partner.example/v2/renders/Render/media?size=2";
  const names = ["undici:client:sendHeaders", "undici:request:trailers", "undici:request:error"];
  const [sending, over, failed] = names.map((name) => channel(name));

  /** Downloads a file of two chunks, while `fetch` tells what is sent. Returns what happened to the first socket. */
  async function socketOf(tell: (sent: Sent) => void, use: "all" | "first" | "cancel" | "leave") {
    const calls: string[] = [];
    const { origin, pathname, search } = new URL(url);
    const socket = { ref: () => void calls.push("ref"), unref: () => void calls.push("unref") };
    const first = { request: { origin, path: pathname + search }, socket };
    const { body } = bodyOf([picture, picture], "close");
    const fetch = async () => {
      tell(first);
      return new Response(body, { headers: { "content-type": "image/png" } });
    };
    const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey, fetch });
    const download = await partner.evidence.download(url);
    calls.push("arrived");
    if (use === "all") await download.bytes();
    if (use === "first") {
      const reader = download.stream().getReader();
      await reader.read();
      calls.push("read");
      await reader.cancel();
    }
    if (use === "cancel") await download.cancel();
    return { calls, first, heard: names.filter((name) => channel(name).hasSubscribers), download };
  }
  const alone = (sent: Sent) => sending?.publish(sent);
  /** The waits for two chunks and for the end. */
  const waits = Array.from({ length: 3 }, () => ["ref", "unref"]).flat();

  it.each<[what: string, tell: (sent: Sent) => void, use: "all" | "first" | "cancel", calls: string[]]>([
    ["keeps the process alive until a chunk is read", alone, "first", ["unref", "arrived", "ref", "unref", "read"]],
    ["keeps the process alive while it is read", alone, "all", ["unref", "arrived", ...waits]],
    ["does not keep it alive when it is canceled", alone, "cancel", ["unref", "arrived"]],
    [
      "is not touched while another request for the same URL is in progress",
      (sent) => {
        sending?.publish(sent);
        sending?.publish({ ...sent, request: { ...sent.request } });
      },
      "all",
      ["arrived"],
    ],
    [
      "is not touched over HTTP/2, whose connection carries other requests",
      ({ request, socket }) => sending?.publish({ request, socket: { ...socket, alpnProtocol: "h2" } }),
      "all",
      ["arrived"],
    ],
    [
      "is that of its own request",
      ({ request, socket }) => sending?.publish({ request: { ...request, path: "/other" }, socket }),
      "all",
      ["arrived"],
    ],
    [
      "is not touched after its request is over: it may carry another one",
      (sent) => {
        sending?.publish(sent);
        over?.publish(sent);
      },
      "all",
      ["arrived"],
    ],
    [
      "is not touched after its request has failed",
      (sent) => {
        sending?.publish(sent);
        failed?.publish(sent);
      },
      "all",
      ["arrived"],
    ],
    [
      "is touched although another request is over",
      (sent) => {
        sending?.publish(sent);
        over?.publish({ ...sent, request: { ...sent.request } });
      },
      "all",
      ["unref", "arrived", ...waits],
    ],
  ])("%s", async (_, tell, use, calls) => {
    expect(await socketOf(tell, use)).toMatchObject({ calls, heard: [] });
  });

  it("is not touched when its request is over before the file is read", async () => {
    const { calls, first, download, heard } = await socketOf(alone, "leave");
    expect(heard).toEqual(names.slice(1));
    over?.publish(first);
    await download.bytes();
    expect(calls).toEqual(["unref", "arrived"]);
  });
});

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
    expect(download).toMatchObject({
      contentType: "image/png",
      etag: '"1"',
      size: picture.length,
      modified: true,
    });
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
    expect(error).toMatchObject({ endpoint });
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
    else expect(error).toMatchObject({ ...fault, endpoint });
    expect(clock.pending).toBe(0);
  });

  type Ending = (download: Download, controller: AbortController) => Promise<unknown>;
  const timedOut = [{ callId: expect.any(String), endpoint, error: "RequestTimeoutError" }];
  const leave: Ending = async () => undefined;
  it.each<[what: string, options: RequestOptions, end: Ending, reported: unknown[]]>([
    ["at its timeout, unread", { timeout: 1_000 }, leave, timedOut],
    ["at its deadline, unread", { deadline: 1_000 }, leave, [{ ...timedOut[0], error: "DeadlineError" }]],
    ["at its timeout, while it is read", { timeout: 1_000 }, (download) => rejection(download.bytes()), []],
    ["when its call is aborted", {}, async (_, controller) => controller.abort(), []],
    ["when it is canceled", { timeout: 1_000, deadline: 2_000 }, (download) => download.cancel(), []],
  ])(
    "that ends %s leaves no timer, and is reported only if nobody has read it in time",
    async (_, options, end, reported) => {
      const clock = createManualClock();
      const events: unknown[] = [];
      const controller = new AbortController();
      const partner = new PodPartner({
        baseUrl: "https://partner.example/v2",
        secretKey,
        clock,
        fetch: async () => new Response(bodyOf([], "stall").body, { headers: { "content-type": "image/png" } }),
        hooks: { onUnreadDownload: (event) => void events.push(event) },
      });
      const download = await partner.renders.media(ref("Render"), { ...options, signal: controller.signal });
      const ended = end(download, controller);
      await clock.advance(1_000);
      await ended;
      expect(clock.pending).toBe(0);
      await clock.advance(5_000);
      expect(events).toEqual(reported);
    },
  );
});
