import { bytesOf, type Chunks, chunksOf } from "../../binary/chunks.ts";
import { concatenate } from "../../binary/concatenate.ts";
import { ResponseTooLargeError } from "../../errors/response-size.ts";
import type { ResponseHead } from "../../util/response-head.ts";

/** The chunks of a response's body: always bytes, whatever a caller's own `fetch` returns. */
export interface Body {
  /** The next chunk; undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  /** Cancels the body and frees its socket. */
  close(): void;
  /** Sets whether the body's socket keeps the process alive, for a transport that has the socket. */
  readonly keepProcess?: (alive: boolean) => void;
}

/** A body that arrives, and that can be read at once. */
export interface ArrivingBody extends Body {
  /** Reads the rest of the body; undefined if it exceeds `limit` bytes. */
  all(limit: number): Promise<Uint8Array | undefined>;
}

const none: ArrivingBody = { next: async () => undefined, all: async () => new Uint8Array(), close: () => undefined };

/** The bytes of a chunk that a stream gave; undefined at its end. */
function chunkOf({ done, value }: Awaited<ReturnType<Chunks["next"]>>): Uint8Array | undefined {
  if (done) return undefined;
  const bytes = bytesOf(value);
  if (bytes === undefined) throw new TypeError("the body of the response has chunks that are not bytes");
  return bytes;
}

/** Opens a response's body. Throws if it was read before or is not a stream. */
export function openBody({ body }: Response): ArrivingBody {
  if (body === null) return none;
  const chunks = chunksOf(body);
  if (chunks === undefined) throw new TypeError("the body of the response is not a stream");
  return {
    next: async () => chunkOf(await chunks.next()),
    all: (limit) => readAll(chunks, limit),
    close: chunks.close,
  };
}

/** Reads a stream to its end; undefined if it exceeds `limit` bytes. */
async function readAll(stream: Chunks, limit: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let chunk = chunkOf(await stream.next()); chunk !== undefined; chunk = chunkOf(await stream.next())) {
    length += chunk.byteLength;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  // In one piece: a decoder reads it faster than chunk by chunk, and its text takes less memory.
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : concatenate(chunks, length);
}

/** Made at the first use, and shared: it keeps nothing between two texts. */
let decoder: InstanceType<typeof TextDecoder> | undefined;

/** Reads a body as text, at most `limit` bytes. It counts the bytes that arrive: the `Content-Length` can be wrong. */
export async function readText(
  body: ArrivingBody,
  { status }: ResponseHead,
  limit: number,
  endpoint: string,
): Promise<string> {
  const bytes = await body.all(limit);
  if (bytes === undefined) throw new ResponseTooLargeError({ endpoint, limit, status });
  decoder ??= new TextDecoder();
  return decoder.decode(bytes);
}
