/** The chunks of a stream as they are asked for, and the way to let it go at any moment. */
export interface Chunks {
  next(): Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  /** Lets the stream go, also while a chunk is waited for: behind it may be an open file. Waits for nothing. */
  close(): void;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const isWebStream = (value: object): value is ReadableStream<unknown> =>
  "getReader" in value && typeof value.getReader === "function";

const isIterable = (value: object): value is AsyncIterable<unknown> => Symbol.asyncIterator in value;

async function quietly(letGo: () => unknown): Promise<void> {
  try {
    await letGo();
  } catch {
    // A stream that fails as it is let go has nothing to say that the caller could mend.
  }
}

/** Reads with a reader: an iterator would be let go only after the chunk that it waits for. */
function ofWebStream(stream: ReadableStream<unknown>): Chunks {
  const reader = stream.getReader();
  return {
    next: () => reader.read(),
    close: () => quietly(() => reader.cancel()),
  };
}

/** A Node stream is destroyed; any other iterator is asked to end, which it may do after the chunk that it waits for. */
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

/** A chunk as bytes; undefined where it is something else. A file handle of Node 22 gives buffers without a view. */
export function bytesOf(chunk: unknown): Uint8Array | undefined {
  if (chunk instanceof Uint8Array) return chunk;
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return chunk instanceof ArrayBuffer ? new Uint8Array(chunk) : undefined;
}

/** The chunks of a web or Node stream; undefined of what is none. Throws where somebody else reads it already. */
export function chunksOf(source: unknown): Chunks | undefined {
  if (!isObject(source)) return undefined;
  if (isWebStream(source)) return ofWebStream(source);
  return isIterable(source) ? ofIterable(source) : undefined;
}
