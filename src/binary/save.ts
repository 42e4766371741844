import type { FileHandle } from "node:fs/promises";
import { FileError } from "../errors/file.ts";
import { RequestValidationError } from "../errors/validation.ts";
import { abortController, held, throwIfAborted } from "../util/abort-signals.ts";
import type { PartnerClock } from "../util/clock.ts";
import { propertyOf } from "../util/foreign.ts";
import { builtIn, fileModules, webCrypto } from "../util/runtime.ts";
import { readPath } from "./path.ts";
import { concatenate, piecesOf } from "./streams.ts";

/** Works on a file. An error becomes a `FileError` with the path. */
async function onFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new FileError({ path, cause: error });
  }
}

/** After these errors a file cannot be replaced, but perhaps overwritten: it is a mount point, or its folder is read-only. */
const irreplaceable: ReadonlySet<unknown> = new Set(["EBUSY", "EXDEV", "EACCES", "EPERM", "EROFS"]);

/** A file that the process has open, such as its standard output. It may have other content or no name, so it is not replaced. */
const openFile = /^\/(dev\/(stdin|stdout|stderr|fd\/\d+)|proc\/(self|\d+)\/fd\/\d+)$/;

/**
 * Writes a file atomically: to a temporary file in the same folder, which is then renamed and gets the mode and the owner of an existing file.
 * A file that cannot be replaced, such as a mounted one, is overwritten when the body is complete. If the path is a symbolic link, its target
 * is replaced, and the link stays. A device, a pipe and standard output are not replaced: the body is written into them.
 */
export async function saveTo(
  given: string | URL,
  body: ReadableStream<Uint8Array>,
  clock: PartnerClock,
): Promise<void> {
  const { fs, path: names } = fileModules();
  const read = readPath(given, "pass the path of a file");
  if ("fault" in read || read.path.endsWith("/")) {
    const message = "fault" in read ? read.fault : "it is a folder: add the name of the file";
    throw new RequestValidationError({ issues: [{ path: [], message }], value: "path of the download" });
  }
  const { path } = read;
  const there = await fs.stat(path).catch(() => undefined);
  // A folder and a socket fail here, before the body is read.
  if (there?.isFile() === false || (there !== undefined && openFile.test(path)))
    return writeInto(path, body, there.isFIFO(), clock);
  const target = await onFile(path, () => targetOf(path));
  if (there === undefined) await onFile(path, () => makeFolder(names.dirname(target)));
  // The temporary name does not contain the file's name: the result could be too long for the file system.
  const name = `.${webCrypto().randomUUID().slice(-12)}.part`;
  let partial = names.join(names.dirname(target), name);
  const open = () => fs.open(partial, "wx", there === undefined ? 0o666 : 0o600);
  try {
    const file = await onFile(path, () =>
      open().catch(async (error: unknown) => {
        if (there === undefined || !irreplaceable.has(propertyOf(error, "code"))) throw error;
        await fs.access(target, fs.constants.W_OK);
        partial = names.join(builtIn("node:os")?.tmpdir() ?? ".", `pod-partner-${name.slice(1)}`);
        return open();
      }),
    );
    await fill(path, file, body);
    if (there !== undefined) {
      // Not every process may change the owner, and not every file system has owners and modes.
      await fs.chown(partial, there.uid, there.gid).catch(() => undefined);
      await fs.chmod(partial, there.mode & 0o7777).catch(() => undefined);
    }
    await onFile(path, () => fs.rename(partial, target)).catch(async (error: unknown) => {
      if (there === undefined || !irreplaceable.has(propertyOf(error, "code"))) throw error;
      // The copied mode may forbid its owner to read it.
      await fs.chmod(partial, 0o600).catch(() => undefined);
      // `copyFile` also sets the mode, which only the owner may do, and fails after it has emptied the file.
      const file = await onFile(path, () => fs.open(target, "w"));
      await fill(path, file, (await fs.open(partial)).createReadStream());
      await fs.rm(partial);
    });
  } catch (error) {
    // An error here would hide the first one.
    await fs.rm(partial, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Resolves the symbolic links of a path. The target of the last link need not exist. */
async function targetOf(path: string): Promise<string> {
  const { fs, path: names } = fileModules();
  try {
    return await fs.realpath(path);
  } catch (error) {
    if (propertyOf(error, "code") !== "ENOENT") throw error;
    const link = await fs.readlink(path).catch(() => undefined);
    // A loop of links fails in `realpath` with ELOOP, so this recursion ends.
    return link === undefined ? path : targetOf(names.resolve(await fs.realpath(names.dirname(path)), link));
  }
}

/** Bytes that are collected before they are written: a write for each chunk can take longer than the bytes themselves. */
const batchSize = 512 * 1024;

/**
 * Makes a folder, and those above it. Node's own recursive `mkdir` runs for ever on a file system that refuses new folders with ENOENT, such as
 * `/proc`.
 */
export async function makeFolder(folder: string): Promise<void> {
  const { fs, path } = fileModules();
  const exists = async () => (await fs.stat(folder).catch(() => undefined))?.isDirectory() === true;
  if (await exists()) return;
  const parent = path.dirname(folder);
  if (parent !== folder) await makeFolder(parent);
  await fs.mkdir(folder).catch(async (error: unknown) => {
    // Another process may have made it meanwhile.
    if (!(await exists())) throw error;
  });
}

/** Writes a body to a file and closes the file, also after an error. */
async function fill(path: string, file: FileHandle, body: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    let batch: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of piecesOf(body)) {
      batch.push(chunk);
      size += chunk.byteLength;
      if (size < batchSize) continue;
      await onFile(path, () => file.writeFile(concatenate(batch)));
      [batch, size] = [[], 0];
    }
    await onFile(path, async () => {
      await file.writeFile(concatenate(batch));
      await flush(file);
    });
  } finally {
    await file.close();
  }
}

/** Flushes the file to the disk. The files of Yarn PnP cannot do this: their error has no code. */
async function flush(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    if (propertyOf(error, "code") !== undefined) throw error;
  }
}

/** Milliseconds between two attempts at a pipe. The pause doubles after each attempt, up to `longest`. */
const pauses = { first: 1, longest: 32 };

/**
 * Writes a body into a pipe or a device, or to the end of standard output. A blocking `open` or `write` of a pipe would occupy a thread until
 * another process reads the pipe, and could not be canceled. So both are non-blocking, and repeated until the body fails (abort, timeout or
 * deadline).
 */
async function writeInto(path: string, body: ReadableStream<Uint8Array>, isPipe: boolean, clock: PartnerClock) {
  const { constants, open } = fileModules().fs;
  const failed = abortController();
  const reader = body.getReader();
  reader.closed.catch((error: unknown) => failed.abort(error));

  /** Repeats work until it succeeds, as long as its errors have one of these codes. */
  async function insist<T>(work: () => Promise<T>, codes: readonly unknown[]): Promise<T> {
    for (let pause = pauses.first; ; pause = Math.min(pause * 2, pauses.longest)) {
      throwIfAborted(failed.signal);
      try {
        return await work();
      } catch (error) {
        if (!codes.includes(propertyOf(error, "code"))) throw new FileError({ path, cause: error });
      }
      await held<void>(failed.signal, (resolve) => clock.after(pause, resolve));
    }
  }

  try {
    // Without a reader, a pipe fails with ENXIO. So does a Unix socket, but it never becomes writable.
    const flags = constants.O_WRONLY | constants.O_APPEND | (constants.O_NONBLOCK ?? 0);
    const file = await insist(() => open(path, flags), isPipe ? ["ENXIO"] : []);
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        for (let chunk = next.value; chunk.byteLength > 0; ) {
          // The errors of a full pipe.
          const { bytesWritten } = await insist(() => file.write(chunk), ["EAGAIN", "EWOULDBLOCK"]);
          chunk = chunk.subarray(bytesWritten);
        }
      }
    } finally {
      await file.close();
    }
  } finally {
    reader.releaseLock();
  }
}
