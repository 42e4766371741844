import { isObject } from "../util/foreign.ts";
import { bytesIn, isWebStream } from "../util/kinds.ts";
import { nextTurn } from "../util/next-turn.ts";

/** Reads a stream chunk by chunk, and can release it at any moment. */
export interface Chunks {
  /** The next chunk; undefined at the end. Throws if it is not binary. */
  next(): Promise<Uint8Array | undefined>;
  /** Releases the stream at once, also while `next` waits for a chunk: the stream may hold an open file. */
  close(): void;
}

/** Opens a web or Node stream. Returns undefined if the value is not a stream. Throws if the stream already has a reader. */
export function chunksOf(source: unknown): Chunks | undefined {
  if (!isObject(source)) return undefined;
  if (isWebStream(source)) {
    // An iterator would be released only after the chunk that it waits for.
    const reader = source.getReader();
    return chunksFrom(
      () => reader.read(),
      () => reader.cancel(),
    );
  }
  if (!isIterable(source)) return undefined;
  const iterator = source[Symbol.asyncIterator]();
  // A Node stream is destroyed. The `return()` of another iterator can wait for the current chunk.
  const release = () =>
    "destroy" in source && typeof source.destroy === "function" ? source.destroy() : iterator.return?.();
  return chunksFrom(() => iterator.next(), release);
}

/** Chunks after which timers and signals get a turn: a source that has all its small chunks at hand would hold them off until its end. */
const chunksPerTurn = 128;

function chunksFrom(read: () => Promise<Parameters<typeof bytesOf>[0]>, release: () => unknown): Chunks {
  let count = 0;
  return {
    next: async () => {
      count += 1;
      if (count % chunksPerTurn === 0) await nextTurn();
      return bytesOf(await read());
    },
    close: () => quietly(release),
  };
}

/** Iterates the chunks of a stream. Leaving the loop cancels the stream. The streams of a polyfill may not be async iterable. */
export async function* piecesOf(stream: unknown): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = chunksOf(stream);
  try {
    for (let chunk = await chunks?.next(); chunk !== undefined; chunk = await chunks?.next()) yield chunk;
  } finally {
    chunks?.close();
  }
}

const isIterable = (value: object): value is AsyncIterable<unknown> => Symbol.asyncIterator in value;

/** The bytes of a chunk. A file handle of Node 22 gives buffers without a view. */
function bytesOf({ done, value }: { readonly done?: boolean | undefined; readonly value?: unknown }) {
  if (done) return undefined;
  const bytes = bytesIn(value);
  if (bytes !== undefined) return bytes;
  throw new TypeError("the stream gives something other than bytes");
}

async function quietly(release: () => unknown): Promise<void> {
  try {
    await release();
  } catch {
    // The caller cannot act on the error of a stream that fails on release.
  }
}

/** Reads a whole stream into memory. */
export async function readAll(stream: unknown): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of piecesOf(stream)) chunks.push(chunk);
  return concatenate(chunks);
}

/** Joins chunks. */
export function concatenate(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

/** Makes a stream of the chunks that `next` resolves to, until undefined. It does not read ahead, so memory is bounded. */
export function streamOf(
  next: () => Promise<Uint8Array | undefined>,
  cancel: (reason: unknown) => unknown,
  Stream = ReadableStream,
): ReadableStream<Uint8Array> {
  return new Stream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await next();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: async (reason) => void (await cancel(reason)),
    },
    { highWaterMark: 0 },
  );
}

/** Bytes of one chunk of {@link streamOfBytes}. */
const pieceSize = 65_536;

/** Makes a stream of bytes, in chunks. */
export function streamOfBytes(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let rest = bytes;
  const next = async () => {
    if (rest.byteLength === 0) return undefined;
    const piece = rest.subarray(0, pieceSize);
    rest = rest.subarray(pieceSize);
    return piece;
  };
  return streamOf(next, () => undefined);
}

/**
 * Makes a stream of a body that calls `onChunk` with each chunk before the reader gets it. If `onChunk` throws, the body ends with its error.
 *
 * The stream does not read ahead, and fails at the same moment as the body. A `TransformStream` would fail only after its waiting chunks are
 * read.
 */
export function watched(
  body: ReadableStream<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        reader.closed.catch((error: unknown) => controller.error(error));
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        try {
          onChunk(value);
        } catch (error) {
          await reader.cancel(error);
          throw error;
        }
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
