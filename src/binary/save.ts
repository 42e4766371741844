import type { FileHandle } from "node:fs/promises";
import { saveInto } from "./special-file.ts";

const isMissing = (error: unknown): boolean => error instanceof Error && Reflect.get(error, "code") === "ENOENT";

/** The file that a path leads to, through links; also where the last of them leads to nothing yet. */
async function targetOf(path: string): Promise<string> {
  const { readlink, realpath } = await import("node:fs/promises");
  const { dirname, resolve } = await import("node:path");
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const link = await readlink(path).catch(() => undefined);
    // Links that go round fail in another way than this: each step leads nearer to the end.
    return link === undefined ? path : targetOf(resolve(await realpath(dirname(path)), link));
  }
}

/** Writes a body, and closes the file in any case. */
async function fill(file: FileHandle, body: ReadableStream<Uint8Array>): Promise<void> {
  try {
    for await (const chunk of body) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Writes a file that appears whole or not at all: beside its place first, then moved there. Where the path is a link, the file behind
 * it is replaced, and the link stays.
 */
export async function saveWhole(path: string, body: ReadableStream<Uint8Array>): Promise<void> {
  const { open, rename, rm, stat } = await import("node:fs/promises");
  const { dirname, join } = await import("node:path");
  const there = await stat(path).catch(() => undefined);
  // A device or a pipe takes what is written to it, and must not be replaced; a folder refuses before anything is read.
  if (there?.isFile() === false) return saveInto(path, body, there.isFIFO());
  const target = await targetOf(path);
  // A name of its own: one made of the file's could be too long for the file system.
  const partial = join(dirname(target), `.${crypto.randomUUID().slice(-12)}.part`);
  try {
    const file = await open(partial, "wx");
    await fill(file, body);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
