import { shorten } from "../errors/base.ts";
import type { Issue } from "../errors/validation.ts";
import { attempt, propertyOf, wordsOf } from "../util/foreign.ts";
import { builtIn, fileModules } from "../util/runtime.ts";
import { isImage, signatureLength } from "./picture.ts";
import { bytesOf, type Chunks, chunksOf, concatenate, streamOf } from "./streams.ts";

/**
 * A Node stream of bytes. Its type includes text, because `setEncoding` makes any Node stream return text; such a stream is refused
 * when it is read. `NodeJS.ReadableStream` would be `any` for a caller without Node's declarations.
 */
interface NodeStream extends AsyncIterable<string | Uint8Array> {
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

/** A value that is made from a source asynchronously, and the function that releases the source. */
export interface UploadOpening<Made> {
  readonly made: Promise<Made>;
  /** Releases the source, whether it is open, was sent, or neither. */
  close(): void;
}

/** The result of opening a source: the upload, or the reasons why it cannot be sent. */
export type Opened =
  | { readonly ok: true; readonly upload: Upload }
  | { readonly ok: false; readonly issues: readonly Issue[] };

const refuse = (message: string): Opened => ({ ok: false, issues: [{ path: [], message }] });

const noImage = "the bytes are neither a JPEG nor a PNG, the two formats that the service accepts";

const notBytes = "the stream gives something other than bytes";

/** How a message names a file. */
export const nameOfFile = (path: string | undefined): string =>
  path === undefined ? "the file" : `the file ${JSON.stringify(shorten(path))}`;

/** Reading a blob of a file can fail: the file may be a folder, or may be deleted. */
async function openBlob(blob: Blob, path?: string): Promise<Opened> {
  let head: Uint8Array;
  try {
    head = new Uint8Array(await blob.slice(0, signatureLength).arrayBuffer());
  } catch (error) {
    return refuse(`${nameOfFile(path)} cannot be read: ${wordsOf(error)}`);
  }
  return isImage(head) ? { ok: true, upload: { replayable: true, path, body: () => blob } } : refuse(noImage);
}

/** No system opens a path of more characters. */
const longestPath = 32_767;

/** Whether a text is the base64 of a JPEG or PNG, or is too long for a path of the same characters. */
const isBase64 = (text: string): boolean =>
  (text.length > 4_096 || /^\s*(\/9j\/|iVBORw0KGgo)/.test(text)) && !/[^A-Za-z0-9+/=_\s-]/.test(text);

/** A blob that reads the file in pieces. The file system of Workers can only read it whole. */
async function openAsBlob(path: string): Promise<Blob> {
  const open = builtIn("node:fs")?.openAsBlob;
  return typeof open === "function" ? open(path) : new Blob([await fileModules().fs.readFile(path)]);
}

/** Opens a file as a blob, which has a size and reads the file in pieces at each attempt. */
async function openFile(path: string): Promise<Opened> {
  const file = nameOfFile(path);
  if (/^https?:/i.test(path)) return refuse(`${file} is a URL: pass the response of \`fetch\``);
  if (/^data:/i.test(path)) return refuse("expected a path, not a data URL: pass the response of `fetch(dataUrl)`");
  if (isBase64(path)) return refuse('expected a path, not base64: pass `Buffer.from(text, "base64")`');
  if (path.length > longestPath) return refuse(`${file} is no path: it has ${path.length} characters`);
  let blob: Blob;
  try {
    if ((await fileModules().fs.stat(path)).isDirectory()) return refuse(`${file} is a folder`);
    blob = await openAsBlob(path);
  } catch (error) {
    const missing = propertyOf(error, "code") === "ENOENT";
    return refuse(missing ? `${file} does not exist` : `${file} cannot be read: ${shorten(wordsOf(error), 200)}`);
  }
  return openBlob(blob, path);
}

async function openUrl(url: URL): Promise<Opened> {
  if (url.protocol !== "file:")
    return refuse("expected a `file:` URL; for any other URL, pass the response of `fetch`");
  const path = builtIn("node:url")?.fileURLToPath(url);
  return openFile(path ?? url.pathname);
}

const isOwn = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> => bytes.buffer instanceof ArrayBuffer;

async function openBytes(given: Uint8Array): Promise<Opened> {
  // `fetch` would convert memory that is shared with other threads to text.
  const bytes = isOwn(given) ? given : Uint8Array.from(given);
  return isImage(bytes) ? { ok: true, upload: { replayable: true, body: () => bytes } } : refuse(noImage);
}

/** Reads only the signature first, which decides whether anything is sent. */
async function openChunks(chunks: Chunks): Promise<Opened> {
  const head: Uint8Array[] = [];
  let length = 0;
  try {
    while (length < signatureLength) {
      const { done, value } = await chunks.next();
      if (done) break;
      const bytes = bytesOf(value);
      if (bytes === undefined) return refuse(notBytes);
      head.push(bytes);
      length += bytes.byteLength;
    }
  } catch (error) {
    return refuse(`the stream cannot be read: ${wordsOf(error)}`);
  }
  if (length === 0) return refuse("the stream gives no bytes; one that was read before cannot be read again");
  if (!isImage(concatenate(head, length))) return refuse(noImage);
  const next = async () => {
    const first = head.shift();
    if (first !== undefined) return first;
    const { done, value } = await chunks.next();
    if (done) return undefined;
    const bytes = bytesOf(value);
    if (bytes === undefined) throw new TypeError(notBytes);
    return bytes;
  };
  const body = streamOf(next, chunks.close);
  return { ok: true, upload: { replayable: false, body: () => body } };
}

function openStream(source: unknown): UploadOpening<Opened> {
  let chunks: Chunks | undefined;
  try {
    chunks = chunksOf(source);
  } catch (error) {
    // The stream has another reader, which releases it.
    return closed(Promise.resolve(refuse(`the stream cannot be read: ${wordsOf(error)}`)));
  }
  if (chunks === undefined) {
    return closed(Promise.resolve(refuse("expected a file's path or URL, bytes, a blob, a response or a stream")));
  }
  return { made: openChunks(chunks), close: chunks.close };
}

/** A response of any implementation of `fetch`. */
const isResponse = (source: unknown): boolean =>
  typeof propertyOf(source, "status") === "number" && propertyOf(source, "body") !== undefined;

/** Opens the body of a response. A status other than 2xx is refused: the message names the status, which helps more than the bytes. */
function openResponse(response: unknown): UploadOpening<Opened> {
  const status = Number(propertyOf(response, "status"));
  const body = propertyOf(response, "body");
  if (body === null) return closed(Promise.resolve(refuse("the response has no body")));
  if (propertyOf(response, "bodyUsed") === true) {
    return closed(Promise.resolve(refuse("the body of the response was already read; a body can be read only once")));
  }
  if (status >= 200 && status <= 299) return openStream(body);
  const close = () => attempt(() => chunksOf(body)?.close());
  return { made: Promise.resolve(refuse(`expected a response with a status of 2xx, not ${status}`)), close };
}

/** An opening of a source that needs no release. */
const closed = (made: Promise<Opened>): UploadOpening<Opened> => ({ made, close: () => undefined });

function openAny(source: unknown): UploadOpening<Opened> {
  if (typeof source === "string") return closed(openFile(source));
  if (source instanceof Uint8Array) return closed(openBytes(source));
  if (source instanceof ArrayBuffer) return closed(openBytes(new Uint8Array(source)));
  if (source instanceof URL) return closed(openUrl(source));
  if (source instanceof Blob) return closed(openBlob(source));
  return isResponse(source) ? openResponse(source) : openStream(source);
}

/**
 * Opens a source for uploading. Bytes that are not a JPEG or PNG are refused before anything is sent (specification 2.7), and so is a
 * source whose properties throw. The caller must close the opening in every case.
 */
export function openImage(source: unknown): UploadOpening<Opened> {
  const unreadable = (error: unknown) => refuse(`the source cannot be read: ${wordsOf(error)}`);
  try {
    const { made, close } = openAny(source);
    return { made: made.catch(unreadable), close };
  } catch (error) {
    return closed(Promise.resolve(unreadable(error)));
  }
}
