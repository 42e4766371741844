/** Reads a stream chunk by chunk, and can release it at any moment. */
export interface Chunks {
  next(): Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  /** Releases the stream at once, also while `next` waits for a chunk: the stream may hold an open file. */
  close(): void;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const isWebStream = (value: object): value is ReadableStream<unknown> =>
  "getReader" in value && typeof value.getReader === "function";

const isIterable = (value: object): value is AsyncIterable<unknown> => Symbol.asyncIterator in value;

async function quietly(release: () => unknown): Promise<void> {
  try {
    await release();
  } catch {
    // The caller cannot act on the error of a stream that fails on release.
  }
}

/** Uses a reader: an iterator would be released only after the chunk that it waits for. */
function ofWebStream(stream: ReadableStream<unknown>): Chunks {
  const reader = stream.getReader();
  return {
    next: () => reader.read(),
    close: () => quietly(() => reader.cancel()),
  };
}

/** Reads an iterable. Closing destroys a Node stream; another iterator gets `return()`, which can wait for the current chunk. */
function ofIterable(source: AsyncIterable<unknown>): Chunks {
  const iterator = source[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    close: () =>
      quietly(() =>
        "destroy" in source && typeof source.destroy === "function" ? source.destroy() : iterator.return?.(),
      ),
  };
}

/** Converts a chunk to bytes; undefined if it is not binary. A file handle of Node 22 gives buffers without a view. */
export function bytesOf(chunk: unknown): Uint8Array | undefined {
  if (chunk instanceof Uint8Array) return chunk;
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return chunk instanceof ArrayBuffer ? new Uint8Array(chunk) : undefined;
}

/** Opens a web or Node stream; undefined if the value is not a stream. Throws if the stream already has a reader. */
export function chunksOf(source: unknown): Chunks | undefined {
  if (!isObject(source)) return undefined;
  if (isWebStream(source)) return ofWebStream(source);
  return isIterable(source) ? ofIterable(source) : undefined;
}
