import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PodPartner, type RequestOptions } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

/** More bytes than the buffer of a pipe holds. */
const picture = Buffer.alloc(1_000_000, 7);

describe("a download that is saved to a named pipe", () => {
  const context = useService();
  let pipe = "";
  beforeEach(async () => {
    pipe = join(await mkdtemp(join(tmpdir(), "pod-partner-")), "pipe");
    execFileSync("mkfifo", [pipe]);
  });
  afterEach(() => rm(join(pipe, ".."), { recursive: true }));

  /** File descriptors of this process that refer to the pipe. */
  const held = () =>
    readdirSync("/proc/self/fd").filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === pipe;
      } catch {
        return false;
      }
    });

  /** Starts to save and returns the failure. The clock does not move. */
  async function begin(options: RequestOptions, onProgress?: () => void) {
    const clock = createManualClock();
    const partner = new PodPartner({ baseUrl: context.service.baseUrl, secretKey, clock, retry: { retries: 0 } });
    context.service.respond({ headers: { "content-type": "image/png" }, body: picture });
    const download = await partner.renders.media(ref("Render"), options);
    const failure = rejection(download.saveTo(pipe, onProgress && { onProgress }));
    return { clock, failure };
  }

  /** A reader that reads no byte or one byte, and then stops. */
  function openReader() {
    const fd = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    return { fd, read: () => readSync(fd, Buffer.alloc(1)), close: () => closeSync(fd) };
  }

  const ends: readonly (readonly [what: string, options: RequestOptions, name: string])[] = [
    ["the attempt's timeout", { timeout: 1_000 }, "RequestTimeoutError"],
    ["the call's deadline", { deadline: 1_000 }, "DeadlineError"],
  ];

  it.each(ends)("ends at %s when the pipe has no reader, and closes its descriptors", async (_, options, name) => {
    const { clock, failure } = await begin(options);
    await clock.advance(1_000);
    expect(await failure).toMatchObject({ name });
    expect([held(), clock.pending]).toEqual([[], 0]);
  });

  it("ends with the caller's abort reason when the pipe has no reader", async () => {
    const controller = new AbortController();
    const { clock, failure } = await begin({ signal: controller.signal });
    controller.abort("enough");
    expect(await failure).toBe("enough");
    expect([held(), clock.pending]).toEqual([[], 0]);
  });

  it.each(ends)(
    "ends at %s when the reader has stopped reading, and closes its descriptors",
    async (_, options, name) => {
      const reader = openReader();
      let pieces = 0;
      const { clock, failure } = await begin(options, () => {
        pieces += 1;
      });
      await expect.poll(() => pieces).toBeGreaterThan(0);
      await clock.advance(1_000);
      expect(await failure).toMatchObject({ name });
      expect(clock.pending).toBe(0);
      expect(held()).toEqual([String(reader.fd)]);
      reader.close();
    },
  );

  it("ends at an abort when the reader has stopped reading", async () => {
    const reader = openReader();
    const controller = new AbortController();
    const { failure } = await begin({ signal: controller.signal }, () => controller.abort("enough"));
    expect(await failure).toBe("enough");
    expect(held()).toEqual([String(reader.fd)]);
    reader.close();
  });

  it("fails with the error of the file system when the reader closes the pipe", async () => {
    const reader = openReader();
    const { failure } = await begin({}, () => setImmediate(reader.close));
    expect(await failure).toMatchObject({ code: "EPIPE" });
    expect(held()).toEqual([]);
  });

  it("arrives complete at a reader that starts late and reads in parts", async () => {
    context.service.respond({ headers: { "content-type": "image/png" }, body: picture });
    const download = await context.partner.renders.media(ref("Render"));
    const saved = download.saveTo(pipe);
    const reader = spawn("sh", ["-c", `{ head -c 100000; cat; } < "${pipe}" > "${pipe}.out"`]);
    await Promise.all([saved, once(reader, "close")]);
    expect((await readFile(`${pipe}.out`)).equals(picture)).toBe(true);
  });

  it("does not block the file system threads of the process while it waits", async () => {
    const controller = new AbortController();
    const failures = await Promise.all(Array.from({ length: 8 }, () => begin({ signal: controller.signal })));
    // Eight pipes without a reader would block every thread of the file system pool.
    await (await open(join(pipe, ".."), "r")).close();
    controller.abort("enough");
    for (const { failure } of failures) expect(await failure).toBe("enough");
  });
});
