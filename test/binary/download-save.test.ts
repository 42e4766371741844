import { execFileSync } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import {
  type FileHandle,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Progress } from "../../src/binary/download.ts";
import { rejection } from "../support/exchange.ts";
import { useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const picture = Buffer.alloc(5_000, 7);

/** Writes bytes at the end of an open file, as its `writeFile` does. */
type Write = (this: FileHandle, bytes: Uint8Array) => Promise<void>;

/** Replaces `writeFile` of all open files until it is disposed. */
async function replaceWrite(path: string, make: (write: Write) => Write): Promise<Disposable> {
  const file = await open(path, "w");
  const handles: object = Object.getPrototypeOf(file);
  await file.close();
  await rm(path);
  const write: Write = Reflect.get(handles, "writeFile");
  Reflect.set(handles, "writeFile", make(write));
  return { [Symbol.dispose]: () => void Reflect.set(handles, "writeFile", write) };
}

describe("download.save()", () => {
  const context = useService();
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const saveTo = async (...path: readonly string[]) => {
    context.service.respond({ headers: { "content-type": "image/png" }, body: picture });
    await (await context.partner.renders.media(ref("Render"))).saveTo(join(folder, ...path));
  };
  const at = (...path: readonly string[]) => join(folder, ...path);

  it("keeps a symbolic link and writes to its target", async () => {
    await mkdir(at("elsewhere"));
    await writeFile(at("elsewhere", "target.png"), "older");
    await symlink("elsewhere/target.png", at("link.png"));
    await saveTo("link.png");
    expect(await readlink(at("link.png"))).toBe("elsewhere/target.png");
    expect((await readFile(at("elsewhere", "target.png"))).equals(picture)).toBe(true);
    expect([await readdir(folder), await readdir(at("elsewhere"))]).toEqual([
      ["elsewhere", "link.png"],
      ["target.png"],
    ]);
  });

  it("creates a missing folder", async () => {
    await saveTo("2026", "november", "mockup.png");
    expect((await readFile(at("2026", "november", "mockup.png"))).equals(picture)).toBe(true);
    expect(await readdir(at("2026", "november"))).toEqual(["mockup.png"]);
  });

  it.runIf(process.platform === "linux")("fails on a file system that refuses a new folder with ENOENT", async () => {
    context.service.respond({ headers: { "content-type": "image/png" }, body: picture });
    const download = await context.partner.renders.media(ref("Render"));
    // Node's own recursive `mkdir` runs there for ever.
    expect(await rejection(download.saveTo("/proc/none/deep/mockup.png"))).toMatchObject({
      name: "FileError",
      code: "ENOENT",
    });
  });

  it("creates a folder that another download creates, too", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `${index}.png`);
    await Promise.all(names.map((name) => saveTo("2026", "december", name)));
    expect((await readdir(at("2026", "december"))).toSorted()).toEqual(names);
  });

  it("follows a link to a link to a missing file, in a folder that is a link", async () => {
    await mkdir(at("deep", "inside"), { recursive: true });
    await symlink("deep/inside", at("folder"));
    await symlink("second.png", at("deep", "inside", "first.png"));
    await symlink("../target.png", at("deep", "inside", "second.png"));
    await saveTo("folder", "first.png");
    expect((await readFile(at("deep", "target.png"))).equals(picture)).toBe(true);
    expect((await lstat(at("deep", "inside", "first.png"))).isSymbolicLink()).toBe(true);
  });

  it("accepts the longest file name that the file system allows", async () => {
    const name = `${"n".repeat(251)}.png`;
    await saveTo(name);
    expect(await readdir(folder)).toEqual([name]);
  });

  it("keeps a named pipe and writes to it", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    const read = readFile(at("pipe"));
    await saveTo("pipe");
    expect((await read).equals(picture)).toBe(true);
    expect((await lstat(at("pipe"))).isFIFO()).toBe(true);
    expect(await readdir(folder)).toEqual(["pipe"]);
  });

  /** A body of several batches, whose bytes differ. */
  const large = Buffer.from(Uint8Array.from({ length: 2_000_003 }, (_, index) => (index * 31) ^ (index >> 8)));
  const saveLarge = async () => {
    context.service.respond({ headers: { "content-type": "image/png" }, body: large });
    await (await context.partner.renders.media(ref("Render"))).saveTo(at("mockup.png"));
  };

  it("writes every byte of a large file in its place, in few writes", async () => {
    let writes = 0;
    using _ = await replaceWrite(
      at("probe"),
      (write) =>
        function (bytes) {
          writes += 1;
          return write.call(this, bytes);
        },
    );
    await saveLarge();
    expect((await readFile(at("mockup.png"))).equals(large)).toBe(true);
    // 31 chunks of 64 KiB.
    expect([1, 2, 3, 4]).toContain(writes);
  });

  it("fails with the error of a write, and leaves no file", async () => {
    using _ = await replaceWrite(at("probe"), () => async () => {
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    });
    expect(await rejection(saveLarge())).toMatchObject({ code: "ENOSPC" });
    expect(await readdir(folder)).toEqual([]);
  });

  it("fails with the caller's reason when a file has taken the place of the folder", async () => {
    const abort = new AbortController();
    const reason = new Error("left");
    await mkdir(at("mockups"));
    context.service.respond({ headers: { "content-type": "image/png" }, body: large });
    const download = await context.partner.renders.media(ref("Render"), { signal: abort.signal });
    const onProgress = ({ received }: Progress) => {
      if (received < 1_000_000) return;
      renameSync(at("mockups"), at("moved"));
      writeFileSync(at("mockups"), "");
      abort.abort(reason);
    };
    const saved = download.saveTo(at("mockups", "mockup.png"), { onProgress });
    expect(await rejection(saved)).toBe(reason);
  });

  it.each<[string, string, () => Promise<unknown>]>([
    ["a circular link", "ELOOP", () => symlink("mockup.png", at("mockup.png"))],
    ["a folder", "EISDIR", () => mkdir(at("mockup.png"))],
  ])("fails for %s, and leaves no temporary file", async (_, code, prepare) => {
    await prepare();
    expect(await rejection(saveTo("mockup.png"))).toMatchObject({ code });
    expect(await readdir(folder)).toEqual(["mockup.png"]);
  });
});
