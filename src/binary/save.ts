import type { FileHandle } from "node:fs/promises";
import { saveInto } from "./special-file.ts";

const isMissing = (error: unknown): boolean => error instanceof Error && Reflect.get(error, "code") === "ENOENT";

/** Resolves the symbolic links of a path. The target of the last link need not exist. */
async function targetOf(path: string): Promise<string> {
  const { readlink, realpath } = await import("node:fs/promises");
  const { dirname, resolve } = await import("node:path");
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const link = await readlink(path).catch(() => undefined);
    // A loop of links fails in `realpath` with ELOOP, so this recursion ends.
    return link === undefined ? path : targetOf(resolve(await realpath(dirname(path)), link));
  }
}

/** Bytes that are collected before they are written: a write for each chunk would take longer than the bytes themselves. */
const batchSize = 512 * 1024;

/** Writes all bytes. The operating system can write fewer at a time. */
async function writeAll(file: FileHandle, batch: readonly Uint8Array[]): Promise<void> {
  for (let rest = batch; rest.length > 0; ) {
    let { bytesWritten } = await file.writev(rest);
    const unfinished = rest.findIndex((chunk) => {
      if (bytesWritten < chunk.byteLength) return true;
      bytesWritten -= chunk.byteLength;
      return false;
    });
    const [first, ...others] = unfinished < 0 ? [] : rest.slice(unfinished);
    rest = first === undefined ? [] : [first.subarray(bytesWritten), ...others];
  }
}

/** Writes a body to a file and closes the file, also after an error. One batch is written while the next one arrives. */
async function fill(file: FileHandle, body: ReadableStream<Uint8Array>): Promise<void> {
  let writing = Promise.resolve();
  try {
    let batch: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body) {
      batch.push(chunk);
      size += chunk.byteLength;
      if (size < batchSize) continue;
      await writing;
      writing = writeAll(file, batch);
      writing.catch(() => undefined);
      [batch, size] = [[], 0];
    }
    await writing;
    await writeAll(file, batch);
    await file.sync();
  } finally {
    await writing.catch(() => undefined);
    await file.close();
  }
}

/**
 * Writes a file atomically: to a temporary file in the same folder, which is then renamed. If the path is a symbolic link, the target
 * of the link is replaced, and the link stays.
 */
export async function saveWhole(path: string, body: ReadableStream<Uint8Array>): Promise<void> {
  const { open, rename, rm, stat } = await import("node:fs/promises");
  const { dirname, join } = await import("node:path");
  const there = await stat(path).catch(() => undefined);
  // A device or a pipe must not be replaced, so the body is written into it. A folder fails here, before the body is read.
  if (there?.isFile() === false) return saveInto(path, body, there.isFIFO());
  const target = await targetOf(path);
  // The temporary name does not contain the file's name: the result could be too long for the file system.
  const partial = join(dirname(target), `.${crypto.randomUUID().slice(-12)}.part`);
  try {
    const file = await open(partial, "wx");
    await fill(file, body);
    await rename(partial, target);
  } catch (error) {
    // An error of the removal would hide the first one.
    await rm(partial, { force: true }).catch(() => undefined);
    throw error;
  }
}
