import { type Issue, RequestValidationError } from "../errors/validation.ts";
import { onAbort } from "../util/abort-signals.ts";
import { wordsOf } from "../util/foreign.ts";
import { createDigest, memoryLimit, TooLarge } from "./digest.ts";
import type { Opened, Upload } from "./source.ts";
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

const refusal = (issues: readonly Issue[]) => new RequestValidationError({ issues });
const fault = (message: string) => refusal([{ path: [], message }]);

const tooLarge = `the content has more than ${memoryLimit} bytes, which this runtime cannot hash in pieces or keep in a file: use \`images.upload\``;

/** Reads a stream chunk by chunk. An abort ends the reading at once, also while the source waits. */
async function forEachChunk(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  take: (chunk: Uint8Array) => void | Promise<void>,
): Promise<void> {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  const read = () =>
    reader.read().catch((error: unknown) => {
      throw fault(`the source cannot be read: ${wordsOf(error)}`);
    });
  const stopListening = onAbort(signal, cancel);
  try {
    for (let next = await read(); !next.done; next = await read()) await take(next.value);
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

async function hashed(blob: Blob, signal: AbortSignal): Promise<Content> {
  const digest = createDigest();
  await forEachChunk(blob.stream(), signal, digest.add);
  return {
    hash: await digest.hex(),
    blob,
    unchanged: () => isReadable(blob),
    remove: async () => undefined,
  };
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

const spoolFault = (error: unknown) => fault(`the stream cannot be kept in a temporary file: ${wordsOf(error)}`);

async function spooled(stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<Content> {
  const spool = await openSpool().catch((error: unknown) => {
    throw spoolFault(error);
  });
  try {
    return await fill(spool, stream, signal);
  } catch (error) {
    await spool.remove();
    signal.throwIfAborted();
    throw error instanceof RequestValidationError || error instanceof TooLarge ? error : spoolFault(error);
  }
}

/** A copy of bytes: the caller may change his own before they are sent. */
const contentOf = ({ body }: Upload, signal: AbortSignal): Promise<Content> => {
  const whole = body();
  if (whole instanceof ReadableStream) return spooled(whole, signal);
  return hashed(whole instanceof Blob ? whole : new Blob([whole]), signal);
};

/**
 * Reads the content of a source, in bounded memory: hashes it, and writes a stream to a temporary file meanwhile.
 *
 * @throws `RequestValidationError` if it cannot be read or kept.
 */
export async function readContent(opened: Opened, signal: AbortSignal): Promise<Content> {
  if (!opened.ok) throw refusal(opened.issues);
  try {
    return await contentOf(opened.upload, signal);
  } catch (error) {
    throw error instanceof TooLarge ? fault(tooLarge) : error;
  }
}
