import type { FileHandle } from "node:fs/promises";
import { held } from "../util/abort-signals.ts";
import type { PartnerClock } from "../util/clock.ts";
import { propertyOf } from "../util/foreign.ts";
import { fileModules } from "../util/runtime.ts";
import { concatenate } from "./streams.ts";

/**
 * Writes a file atomically: to a temporary file in the same folder, which is then renamed. If the path is a symbolic link, the target
 * of the link is replaced, and the link stays. A device or a pipe is not replaced: the body is written into it.
 */
export async function saveTo(path: string, body: ReadableStream<Uint8Array>, clock: PartnerClock): Promise<void> {
  const { fs, path: names } = fileModules();
  const there = await fs.stat(path).catch(() => undefined);
  // A folder fails here, before the body is read.
  if (there?.isFile() === false) return writeInto(path, body, there.isFIFO(), clock);
  const target = await targetOf(path);
  // The temporary name does not contain the file's name: the result could be too long for the file system.
  if (there === undefined) await fs.mkdir(names.dirname(target), { recursive: true });
  const partial = names.join(names.dirname(target), `.${crypto.randomUUID().slice(-12)}.part`);
  try {
    const file = await fs.open(partial, "wx");
    await fill(file, body);
    await fs.rename(partial, target);
  } catch (error) {
    // An error of the removal would hide the first one.
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

/** Writes a body to a file and closes the file, also after an error. */
async function fill(file: FileHandle, body: ReadableStream<Uint8Array>): Promise<void> {
  try {
    let batch: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body) {
      batch.push(chunk);
      size += chunk.byteLength;
      if (size < batchSize) continue;
      await file.writeFile(concatenate(batch, size));
      [batch, size] = [[], 0];
    }
    await file.writeFile(concatenate(batch, size));
    await flush(file);
  } finally {
    await file.close();
  }
}

/** Writes to the disk what the operating system still holds. Yarn PnP's files cannot: their error has no code. */
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
 * Writes a body into a pipe or a device. A blocking `open` or `write` of a pipe would occupy a thread until another process reads it, and
 * could not be stopped: so both are tried again, until the body fails (abort, timeout or deadline).
 */
async function writeInto(path: string, body: ReadableStream<Uint8Array>, isPipe: boolean, clock: PartnerClock) {
  const { constants, open } = fileModules().fs;
  const failed = new AbortController();
  const reader = body.getReader();
  reader.closed.catch((error: unknown) => failed.abort(error));

  /** Works until it succeeds. An error with one of these codes leads to another attempt. */
  async function insist<T>(work: () => Promise<T>, codes: readonly unknown[]): Promise<T> {
    for (let pause = pauses.first; ; pause = Math.min(pause * 2, pauses.longest)) {
      failed.signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        if (!codes.includes(propertyOf(error, "code"))) throw error;
      }
      await held<void>(failed.signal, (resolve) => clock.after(pause, resolve));
    }
  }

  try {
    // Without a reader, a pipe fails with ENXIO. A Unix socket does, too, but it never becomes writable.
    const flags = constants.O_WRONLY | (constants.O_NONBLOCK ?? 0);
    const file = await insist(() => open(path, flags), isPipe ? ["ENXIO"] : []);
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        for (let chunk = next.value; chunk.byteLength > 0; ) {
          // A full pipe fails with one of these.
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
