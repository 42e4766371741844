import { onAbort } from "../util/abort-signals.ts";
import { createDigest, TooLarge } from "./digest.ts";
import type { Upload } from "./source.ts";
import { openSpool, type Spool } from "./spool.ts";

/** The content of an upload, which can be sent any number of times, and its hash. */
export interface Content {
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
  readonly blob: Blob;
  /** Whether the blob still has the bytes that were hashed. */
  unchanged(): Promise<boolean>;
  /** Removes the temporary file. Call it in every case. */
  remove(): Promise<void>;
}

/** Makes the error of a source that cannot be sent. */
export type Refuse = (what: string, error: unknown) => Error;

/** Reads a stream chunk by chunk. An abort ends the reading at once, also while the source waits. */
async function forEachChunk(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  take: (chunk: Uint8Array) => void | Promise<void>,
): Promise<void> {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  const stopListening = onAbort(signal, cancel);
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) await take(next.value);
    signal.throwIfAborted();
  } catch (error) {
    cancel();
    throw error;
  } finally {
    stopListening();
  }
}

/** The platform refuses to read the blob of a file whose size or modification time has changed since the blob was made. */
const isReadable = (blob: Blob): Promise<boolean> =>
  blob
    .slice(0, 1)
    .arrayBuffer()
    .then(
      ({ byteLength }) => byteLength === 1,
      () => false,
    );

/** The bytes of a file that are read at a time. */
const piece = 262_144;

/** Reads a file into one buffer: the stream of a blob makes a new buffer for each chunk. */
async function forEachPiece(path: string, signal: AbortSignal, take: (bytes: Uint8Array) => void): Promise<void> {
  const { open } = await import("node:fs/promises");
  const file = await open(path);
  try {
    const buffer = new Uint8Array(piece);
    for (;;) {
      const { bytesRead } = await file.read(buffer);
      signal.throwIfAborted();
      if (bytesRead === 0) return;
      take(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

async function hashed(blob: Blob, path: string | undefined, signal: AbortSignal): Promise<Content> {
  const digest = createDigest();
  if (path === undefined) await forEachChunk(blob.stream(), signal, digest.add);
  else await forEachPiece(path, signal, digest.add);
  return { hash: await digest.hex(), blob, unchanged: () => isReadable(blob), remove: async () => undefined };
}

async function fill(spool: Spool, stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<Content> {
  const digest = createDigest();
  await forEachChunk(stream, signal, (chunk) => {
    digest.add(chunk);
    return spool.write(chunk);
  });
  const [hash, blob] = await Promise.all([digest.hex(), spool.finish()]);
  return { hash, blob, unchanged: async () => true, remove: () => spool.remove() };
}

async function spooled(stream: ReadableStream<Uint8Array>, signal: AbortSignal, refuse: Refuse): Promise<Content> {
  const spool = await openSpool().catch((error: unknown) => {
    throw refuse("the stream cannot be kept in a temporary file", error);
  });
  try {
    return await fill(spool, stream, signal);
  } catch (error) {
    await spool.remove();
    throw error;
  }
}

/**
 * Reads the content of an upload in bounded memory: hashes it, and writes a stream to a temporary file meanwhile. Bytes are copied: the
 * caller may change his own before they are sent.
 */
export async function readContent({ body, path }: Upload, signal: AbortSignal, refuse: Refuse): Promise<Content> {
  const whole = body();
  try {
    if (whole instanceof ReadableStream) return await spooled(whole, signal, refuse);
    return await hashed(whole instanceof Blob ? whole : new Blob([whole]), path, signal);
  } catch (error) {
    const what = error instanceof TooLarge ? "the source is too large" : "the source cannot be read";
    throw refuse(what, error);
  }
}
