import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import fs, { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { FileError, RequestValidationError } from "pod-partner";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { rejection } from "../support/exchange.ts";
import { useService } from "../support/partner.ts";
import { png } from "../support/pictures.ts";
import { ref } from "../support/references.ts";

const picture = Buffer.alloc(5_000, 7);
const context = useService();
let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});
const at = (...path: readonly string[]) => join(folder, ...path);

async function saveTo(path: string | URL) {
  context.service.respond({ headers: { "content-type": "image/png" }, body: picture });
  await (await context.partner.renders.media(ref("Render"))).saveTo(path);
}

/** The message of a typed error. Nothing else is left in the folder. */
async function refusalOf(path: string | URL): Promise<string> {
  const error = await rejection(saveTo(path));
  if (!RequestValidationError.isInstance(error) && !FileError.isInstance(error)) throw error;
  expect(error.endpoint).toBe("GET /renders/{renderReference}/media");
  return error.message;
}

describe("saveTo", () => {
  it.each([0o600, 0o640, 0o644, 0o755, 0o777, 0o4750])("keeps the mode of an existing file: %o", async (mode) => {
    writeFileSync(at("file.png"), "old");
    chmodSync(at("file.png"), mode);
    symlinkSync("file.png", at("link.png"));
    for (const name of ["file.png", "link.png"]) {
      await saveTo(at(name));
      expect((statSync(at("file.png")).mode & 0o7777).toString(8)).toBe(mode.toString(8));
    }
  });

  it("gives a new file the mode that the process gives to its files", async () => {
    await saveTo(at("new.png"));
    writeFileSync(at("own.png"), "");
    expect(statSync(at("new.png")).mode).toBe(statSync(at("own.png")).mode);
  });

  it.each(["EBUSY", "EXDEV", "EPERM", "EACCES"])("overwrites a file that cannot be replaced: %s", async (code) => {
    writeFileSync(at("file.png"), "old");
    chmodSync(at("file.png"), 0o640);
    const { ino } = statSync(at("file.png"));
    vi.spyOn(fs, "rename").mockRejectedValue(Object.assign(new Error(`${code}: rename`), { code }));
    await saveTo(at("file.png"));
    expect((await readFile(at("file.png"))).equals(picture)).toBe(true);
    expect([statSync(at("file.png")).ino, statSync(at("file.png")).mode & 0o777]).toEqual([ino, 0o640]);
    expect(await readdir(folder)).toEqual(["file.png"]);
  });

  it("overwrites a file whose folder can only be read", async () => {
    writeFileSync(at("file.png"), "old");
    const open = fs.open;
    const refused = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
    vi.spyOn(fs, "open").mockImplementation((path, flags, ...rest) =>
      flags === "wx" && String(path).startsWith(folder) ? Promise.reject(refused) : open(path, flags, ...rest),
    );
    vi.spyOn(fs, "rename").mockRejectedValue(Object.assign(new Error("EXDEV: rename"), { code: "EXDEV" }));
    await saveTo(at("file.png"));
    expect((await readFile(at("file.png"))).equals(picture)).toBe(true);
    expect(await readdir(folder)).toEqual(["file.png"]);
  });

  // Only the owner may set the mode of a file, which `copyFile` does after it has emptied the file.
  it.skipIf(process.getuid?.() !== 0)(
    "overwrites a file of another user, in a folder that can only be read",
    async () => {
      for (const [name, mode] of [
        ["all.png", 0o666],
        ["write.png", 0o222],
      ] as const) {
        writeFileSync(at(name), "old");
        chmodSync(at(name), mode);
      }
      chmodSync(folder, 0o755);
      process.seteuid?.(65_534);
      try {
        await saveTo(at("all.png"));
        await saveTo(at("write.png"));
        expect(await rejection(saveTo(at("new.png")))).toMatchObject({ code: "EACCES" });
      } finally {
        process.seteuid?.(0);
      }
      for (const name of ["all.png", "write.png"]) expect((await readFile(at(name))).equals(picture)).toBe(true);
      expect(await readdir(folder)).toEqual(["all.png", "write.png"]);
    },
  );

  it.each(["open", "rename", "mkdir"] as const)("says what is true when the file system fails: %s", async (name) => {
    const path = at(name === "mkdir" ? "missing/new.png" : "new.png");
    for (const code of ["ENOSPC", "EACCES", "EROFS", "EIO", "EMFILE", "EDQUOT", "EFBIG"]) {
      const cause = Object.assign(new Error(`${code}: failed`), { code });
      vi.spyOn(fs, name).mockRejectedValue(cause);
      const error = await rejection(saveTo(path));
      if (!FileError.isInstance(error)) throw error;
      expect(error).toMatchObject({ code, cause, path, isRetryable: false });
      expect(error.message).toContain(`The download was not saved to ${JSON.stringify(path)}: ${code}: failed.`);
      expect(error.hint ?? "").toMatch(code === "EIO" ? /^$/ : /^[A-Z].*\.$/);
      expect(error.toJSON()).toMatchObject({ name: "FileError", code, path });
      vi.restoreAllMocks();
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it("adds to the file that is the output of the process, and does not replace it", async () => {
    const file = await fs.open(at("output"), "w");
    await file.write("before");
    const { ino } = statSync(at("output"));
    await saveTo(`/dev/fd/${file.fd}`);
    await rm(at("output"));
    await saveTo(`/proc/self/fd/${file.fd}`);
    expect(await file.stat()).toMatchObject({ ino, size: 6 + 2 * picture.length });
    await file.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it("reports a full device, and a socket", async () => {
    expect(await refusalOf("/dev/full")).toContain("The disk is full");
    const server = createServer().listen(at("socket"));
    await once(server, "listening");
    expect(await refusalOf(at("socket"))).toContain("It is a socket");
    server.close();
  });

  it("writes whole files when two calls have the same path", async () => {
    await Promise.all(Array.from({ length: 8 }, () => saveTo(at("file.png"))));
    expect((await readFile(at("file.png"))).equals(picture)).toBe(true);
    expect(await readdir(folder)).toEqual(["file.png"]);
  });

  it("takes a file: URL, as an object and as a text", async () => {
    const url = pathToFileURL(at("a mockup%ü.png"));
    for (const form of [url, url.href]) {
      await saveTo(form);
      expect((await readFile(at("a mockup%ü.png"))).equals(picture)).toBe(true);
      await rm(at("a mockup%ü.png"));
    }
  });

  it.each([
    ["https://shop.example/a.png", /is a URL/],
    [new URL("https://shop.example/a.png"), /expected a `file:` URL/],
    ["s3://bucket/a.png", /is a URL/],
    ["data:image/png;base64,AAAA", /data URL/],
    ["file://host.example/a.png", /is not the URL of a file of this machine/],
    ["file:///a%00.png", /U\+0000/],
    ["a\0.png", /U\+0000/],
    ["", /the path is empty/],
    [join(tmpdir(), "nowhere", "/"), /add the name of the file/],
    [tmpdir(), /It is a folder/],
    [join(tmpdir(), `${"n".repeat(300)}.png`), /The name is too long/],
  ])("refuses %j with a typed error", async (path, fault) => {
    expect(await refusalOf(path)).toMatch(fault);
  });
});

const methods = {
  "images.upload": (source: string | URL) => context.partner.images.upload(source),
  "images.uploadOnce": (source: string | URL) => context.partner.images.uploadOnce(source),
  "evidence.upload": (source: string | URL) => context.partner.evidence.upload(source),
};
const responses = {
  "images.upload": { body: { image: { reference: ref("Image") } } },
  "images.uploadOnce": { body: { image: { reference: ref("Image") } } },
  "evidence.upload": { body: { evidence: { reference: ref("Evidence") } } },
};

describe.each(Object.keys(methods) as (keyof typeof methods)[])("a source of %s", (name) => {
  const sent = async (source: string | URL) => {
    context.service.respond(responses[name]);
    await methods[name](source);
    return context.service.requests.at(-1)?.body.equals(Buffer.from(png));
  };
  const fault = async (source: string | URL) => String(await rejection(methods[name](source)));

  it("can be a file: URL, as an object and as a text", async () => {
    writeFileSync(at("a design.png"), png);
    const url = pathToFileURL(at("a design.png"));
    for (const form of [url, url.href]) expect(await sent(form)).toBe(true);
  });

  it("can be a named pipe", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    const written = fs.writeFile(at("pipe"), png);
    expect(await sent(at("pipe"))).toBe(true);
    await written;
  });

  it("can be a named pipe into which nothing is written: an abort ends it, and frees its thread", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    const reason = new Error("left");
    const options = { signal: AbortSignal.abort(reason) };
    expect(await rejection(context.partner.images.upload(at("pipe"), options))).toBe(reason);
    const controller = new AbortController();
    const uploads = Array.from({ length: 6 }, () =>
      rejection(context.partner.images.upload(at("pipe"), { signal: controller.signal })),
    );
    setImmediate(() => controller.abort(reason));
    expect(await Promise.all(uploads)).toEqual(uploads.map(() => reason));
    expect(await readFile(import.meta.filename, "utf8")).toContain("frees its thread");
  });

  it("is refused by what is wrong with it", async () => {
    writeFileSync(at("empty.png"), "");
    mkdirSync(at("inside"));
    expect(await fault(at("empty.png"))).toContain(`the file "${at("empty.png")}" is empty`);
    expect(await fault(at("inside"))).toContain("is a folder");
    expect(await fault(at("missing.png"))).toContain("does not exist");
    expect(await fault("/proc/version")).toContain("neither a JPEG nor a PNG");
    expect(await fault("/dev/null")).toContain('the file "/dev/null" is empty');
    expect(await fault("")).toContain("the path is empty");
    expect(await fault("a\0.png")).toContain("U+0000");
    expect(await fault("file://host.example/a.png")).toContain("is not the URL of a file of this machine");
    expect(await fault("file:///missing.png")).toContain('the file "/missing.png" does not exist');
    expect(await fault(new URL("ftp://host.example/a.png"))).toContain("expected a `file:` URL");
    expect(context.service.requests).toHaveLength(0);
  });
});
