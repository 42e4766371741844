import { shorten } from "../errors/base.ts";
import { attempt, isFunction, propertyOf, wordsOf } from "../util/foreign.ts";
import { bytesIn, isBlob, isBuffer, isUrl } from "../util/kinds.ts";
import { builtIn, fileModules } from "../util/runtime.ts";
import { nameOfFile, readPath } from "./path.ts";
import { isImage, signatureLength } from "./picture.ts";
import { type Chunks, chunksOf, concatenate, streamOf } from "./streams.ts";

/**
 * A Node stream of bytes. The type includes strings, because after `setEncoding` any Node stream returns strings; such a stream is refused when
 * it is read. `NodeJS.ReadableStream` would be `any` for a caller without Node's type declarations.
 */
export interface NodeStream extends AsyncIterable<string | Uint8Array> {
  readonly readable: boolean;
  pause(): unknown;
  resume(): unknown;
}

/**
 * The source of an upload: a file's path or `file:` URL, bytes, a blob or file, a response, a web or Node stream, or any other async
 * iterable of bytes.
 */
export type ImageSource =
  | string
  | URL
  | Uint8Array
  | ArrayBuffer
  | Blob
  | Response
  | ReadableStream<Uint8Array | ArrayBuffer>
  | AsyncIterable<Uint8Array | ArrayBuffer>
  | NodeStream;

/** An upload that is ready to be sent. */
export interface Upload {
  /** Whether the bytes can be sent again. A stream can be sent only once. */
  readonly replayable: boolean;
  /** The path of the file that the bytes come from; undefined for any other source. */
  readonly path?: string | undefined;
  /** The body of the next attempt. */
  body(): Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
}

/** A value that is being made from a source, and the function that releases the source. */
export interface UploadOpening<Made> {
  readonly made: Promise<Made>;
  /** Releases the source. Always call it, whatever became of the source. */
  close(): void;
}

/** A source that cannot be sent; the message says why. */
class RefusedSource extends Error {}

/** Never throws: the source may have thrown a revoked proxy, for which `instanceof` throws. */
const isRefused = (error: unknown): error is RefusedSource => attempt(() => error instanceof RefusedSource) === true;

const noImage = "the bytes are neither a JPEG nor a PNG, the two formats that the service accepts";

/** Checks the signature of a blob. The blob of a file can be unreadable: the file may be a folder, or deleted. */
async function openBlob(blob: Blob, path?: string): Promise<Upload> {
  const head = await blob
    .slice(0, signatureLength)
    .arrayBuffer()
    .catch((error: unknown) => {
      throw new RefusedSource(`${nameOfFile(path)} cannot be read: ${wordsOf(error)}`);
    });
  if (blob.size === 0) throw new RefusedSource(`${nameOfFile(path)} is empty`);
  if (!isImage(new Uint8Array(head))) throw new RefusedSource(noImage);
  return { replayable: true, path, body: () => blob };
}

/** Reads a blob of an old jsdom, which has no method to read it. Its bytes are in memory anyway. */
function readWhole(blob: Blob): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const reader: unknown = Reflect.construct(Reflect.get(globalThis, "FileReader"), []);
    const read = Object.assign(reader as { result: unknown; error: unknown; readAsArrayBuffer(blob: Blob): void }, {
      onload: () => resolve(bytesIn(read.result) ?? new Uint8Array()),
      onerror: () => reject(read.error),
    });
    read.readAsArrayBuffer(blob);
  });
}

/** Whether a text is the base64 of a JPEG or PNG, or so long that it is base64 rather than a path. */
const isBase64 = (text: string): boolean =>
  (text.length > 4_096 || /^\s*(\/9j\/|iVBORw0KGgo)/.test(text)) && !/[^A-Za-z0-9+/=_\s-]/.test(text);

/** Opens a file as a blob that is read in pieces. The file system of Workers can only read it whole. */
async function openAsBlob(path: string): Promise<Blob> {
  const open = builtIn("node:fs")?.openAsBlob;
  return typeof open === "function" ? open(path) : new Blob([await fileModules().fs.readFile(path)]);
}

/** The error for a file that cannot be opened or read. */
function unreadable(path: string, error: unknown): RefusedSource {
  if (isRefused(error)) return error;
  const [file, code] = [nameOfFile(path), propertyOf(error, "code")];
  if (code === "ENOENT") return new RefusedSource(`${file} does not exist`);
  const hint = code === "ENXIO" ? ". It is a socket: pass its stream, for example `process.stdin`" : "";
  return new RefusedSource(`${file} cannot be read: ${shorten(wordsOf(error), 200)}${hint}`);
}

/**
 * Opens a named pipe. Opening blocks a thread until a process opens the pipe for writing, so `close` does that for a moment. The pipe is read
 * without a thread, so that it can be closed while nothing arrives.
 */
function openPipe(path: string): Chunks {
  const [fs, net] = [builtIn("node:fs"), builtIn("node:net")];
  let chunks: Chunks | undefined;
  let isClosed = false;
  const open = async () => {
    const fd = await new Promise<number>((resolve, reject) => {
      fs?.open(path, "r", (error, opened) => (error === null ? resolve(opened) : reject(error)));
    });
    chunks = net && chunksOf(new net.Socket({ fd, readable: true, writable: false }));
    if (isClosed) chunks?.close();
  };
  const opened = open();
  opened.catch(() => undefined);
  const wake = () => {
    const { O_WRONLY = 0, O_NONBLOCK = 0 } = fs?.constants ?? {};
    fs?.open(path, O_WRONLY | O_NONBLOCK, (error, fd) => error === null && fs.close(fd));
  };
  return {
    next: async () => {
      await opened;
      return chunks?.next();
    },
    close: () => {
      isClosed = true;
      if (chunks === undefined) wake();
      else chunks.close();
    },
  };
}

/** Opens a file: as a blob, which has a size and can be read for each attempt, or as chunks, which can be read once. */
async function openFile(path: string): Promise<Blob | Chunks> {
  const { fs } = fileModules();
  const file = nameOfFile(path);
  try {
    const there = await fs.stat(path);
    if (there.isDirectory()) throw new RefusedSource(`${file} is a folder`);
    if (there.isFIFO()) return openPipe(path);
    if (there.isFile() && there.size > 0) return await openAsBlob(path);
    // Files in /proc, and devices, have no size.
    const chunks = chunksOf(builtIn("node:fs")?.createReadStream(path)) ?? chunksOf((await openAsBlob(path)).stream());
    if (chunks === undefined) throw new RefusedSource(`${file} cannot be read`);
    return chunks;
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** The path of a source. */
function pathOf(source: unknown): string {
  if (typeof source === "string" && isBase64(source))
    throw new RefusedSource('expected a path, not base64: pass `Buffer.from(text, "base64")`');
  const read = readPath(source, "pass the response of `fetch`");
  if ("fault" in read) throw new RefusedSource(read.fault);
  return read.path;
}

const isOwn = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> => isBuffer(bytes.buffer);

function openBytes(given: Uint8Array): Upload {
  // `fetch` would convert shared memory to text.
  const bytes = isOwn(given) ? given : Uint8Array.from(given);
  if (bytes.length === 0) throw new RefusedSource("the bytes are empty");
  if (!isImage(bytes)) throw new RefusedSource(noImage);
  return { replayable: true, body: () => bytes };
}

/** Reads only the signature of a stream, to decide whether to send it. */
async function openChunks(chunks: Chunks, path?: string): Promise<Upload> {
  const head: Uint8Array[] = [];
  let length = 0;
  while (length < signatureLength) {
    const bytes = await chunks.next().catch((error: unknown) => {
      throw path === undefined ? error : unreadable(path, error);
    });
    if (bytes === undefined) break;
    head.push(bytes);
    length += bytes.byteLength;
  }
  if (length === 0 && path !== undefined) throw new RefusedSource(`${nameOfFile(path)} is empty`);
  if (length === 0) throw new RefusedSource("the stream gives no bytes; one that was read before cannot be read again");
  if (!isImage(concatenate(head))) throw new RefusedSource(noImage);
  const body = streamOf(async () => head.shift() ?? chunks.next(), chunks.close);
  return { replayable: false, body: () => body };
}

/** Whether it is a response, of any implementation of `fetch`. */
const isResponse = (source: unknown): boolean =>
  typeof propertyOf(source, "status") === "number" && propertyOf(source, "body") !== undefined;

/** Returns the body of a response. A status other than 2xx is refused with a message that names it. */
function bodyOf(response: unknown): unknown {
  const status = Number(propertyOf(response, "status"));
  const body = propertyOf(response, "body");
  if (body === null) throw new RefusedSource("the response has no body");
  if (propertyOf(response, "bodyUsed") === true) {
    throw new RefusedSource("the body of the response was already read; a body can be read only once");
  }
  if (status >= 200 && status <= 299) return body;
  attempt(() => chunksOf(body)?.close());
  throw new RefusedSource(`expected a response with a status of 2xx, not ${status}`);
}

/**
 * Opens a source for uploading. `made` resolves to the upload, or to the reason why it cannot be sent: for example because the bytes are not a
 * JPEG or PNG (specification 2.7), or because a property of the source throws. The caller must always close the opening.
 */
export function openImage(source: unknown): UploadOpening<Upload | string> {
  let chunks: Chunks | undefined;
  let isClosed = false;
  const open = async (): Promise<Upload> => {
    const bytes = bytesIn(source);
    if (bytes !== undefined) return openBytes(bytes);
    if (typeof source === "string" || isUrl(source)) {
      const path = pathOf(source);
      const opened = await openFile(path);
      if (isBlob(opened)) return openBlob(opened, path);
      chunks = opened;
      if (isClosed) chunks.close();
      return openChunks(chunks, path);
    }
    if (isBlob(source)) return isFunction(source.stream) ? openBlob(source) : openBytes(await readWhole(source));
    chunks = chunksOf(isResponse(source) ? bodyOf(source) : source);
    if (chunks === undefined)
      throw new RefusedSource("expected a file's path or URL, bytes, a blob, a response or a stream");
    return openChunks(chunks);
  };
  const made = open().catch((error: unknown) =>
    isRefused(error) ? error.message : `the source cannot be read: ${wordsOf(error)}`,
  );
  const close = () => {
    isClosed = true;
    chunks?.close();
  };
  return { made, close };
}
