import { shorten } from "../errors/base.ts";
import { attempt, propertyOf, wordsOf } from "../util/foreign.ts";
import { builtIn, fileModules } from "../util/runtime.ts";
import { isImage, signatureLength } from "./picture.ts";
import { type Chunks, chunksOf, concatenate, streamOf } from "./streams.ts";

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

/** A source that cannot be sent; the message says why. */
class Refused extends Error {}

/** The source may have thrown the error, and `instanceof` throws for a revoked proxy. */
const isRefused = (error: unknown): error is Refused => attempt(() => error instanceof Refused) === true;

const noImage = "the bytes are neither a JPEG nor a PNG, the two formats that the service accepts";

/** How a message names a file. */
export const nameOfFile = (path: string | undefined): string =>
  path === undefined ? "the file" : `the file ${JSON.stringify(shorten(path))}`;

/** Reading a blob of a file can fail: the file may be a folder, or may be deleted. */
async function openBlob(blob: Blob, path?: string): Promise<Upload> {
  const head = await blob
    .slice(0, signatureLength)
    .arrayBuffer()
    .catch((error: unknown) => {
      throw new Refused(`${nameOfFile(path)} cannot be read: ${wordsOf(error)}`);
    });
  if (!isImage(new Uint8Array(head))) throw new Refused(noImage);
  return { replayable: true, path, body: () => blob };
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
async function openFile(path: string): Promise<Upload> {
  const file = nameOfFile(path);
  if (/^https?:/i.test(path)) throw new Refused(`${file} is a URL: pass the response of \`fetch\``);
  if (/^data:/i.test(path)) throw new Refused("expected a path, not a data URL: pass the response of `fetch(dataUrl)`");
  if (isBase64(path)) throw new Refused('expected a path, not base64: pass `Buffer.from(text, "base64")`');
  if (path.length > longestPath) throw new Refused(`${file} is no path: it has ${path.length} characters`);
  let blob: Blob;
  try {
    if ((await fileModules().fs.stat(path)).isDirectory()) throw new Refused(`${file} is a folder`);
    blob = await openAsBlob(path);
  } catch (error) {
    if (isRefused(error)) throw error;
    const missing = propertyOf(error, "code") === "ENOENT";
    throw new Refused(missing ? `${file} does not exist` : `${file} cannot be read: ${shorten(wordsOf(error), 200)}`);
  }
  return openBlob(blob, path);
}

function openUrl(url: URL): Promise<Upload> {
  if (url.protocol !== "file:")
    throw new Refused("expected a `file:` URL; for any other URL, pass the response of `fetch`");
  return openFile(builtIn("node:url")?.fileURLToPath(url) ?? url.pathname);
}

const isOwn = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> => bytes.buffer instanceof ArrayBuffer;

function openBytes(given: Uint8Array): Upload {
  // `fetch` would convert memory that is shared with other threads to text.
  const bytes = isOwn(given) ? given : Uint8Array.from(given);
  if (!isImage(bytes)) throw new Refused(noImage);
  return { replayable: true, body: () => bytes };
}

/** Reads only the signature of a stream, which decides whether anything is sent. */
async function openChunks(chunks: Chunks): Promise<Upload> {
  const head: Uint8Array[] = [];
  let length = 0;
  while (length < signatureLength) {
    const bytes = await chunks.next();
    if (bytes === undefined) break;
    head.push(bytes);
    length += bytes.byteLength;
  }
  if (length === 0) throw new Refused("the stream gives no bytes; one that was read before cannot be read again");
  if (!isImage(concatenate(head, length))) throw new Refused(noImage);
  const body = streamOf(async () => head.shift() ?? chunks.next(), chunks.close);
  return { replayable: false, body: () => body };
}

/** A response of any implementation of `fetch`. */
const isResponse = (source: unknown): boolean =>
  typeof propertyOf(source, "status") === "number" && propertyOf(source, "body") !== undefined;

/** The body of a response. A status other than 2xx is refused: the message names the status, which helps more than the bytes. */
function bodyOf(response: unknown): unknown {
  const status = Number(propertyOf(response, "status"));
  const body = propertyOf(response, "body");
  if (body === null) throw new Refused("the response has no body");
  if (propertyOf(response, "bodyUsed") === true) {
    throw new Refused("the body of the response was already read; a body can be read only once");
  }
  if (status >= 200 && status <= 299) return body;
  attempt(() => chunksOf(body)?.close());
  throw new Refused(`expected a response with a status of 2xx, not ${status}`);
}

/**
 * Opens a source for uploading: the upload, or the reason why it cannot be sent. Bytes that are not a JPEG or PNG are refused before anything
 * is sent (specification 2.7), and so is a source whose properties throw. The caller must close the opening in every case.
 */
export function openImage(source: unknown): UploadOpening<Upload | string> {
  let chunks: Chunks | undefined;
  const open = async (): Promise<Upload> => {
    if (typeof source === "string") return openFile(source);
    if (source instanceof Uint8Array) return openBytes(source);
    if (source instanceof ArrayBuffer) return openBytes(new Uint8Array(source));
    if (source instanceof URL) return openUrl(source);
    if (source instanceof Blob) return openBlob(source);
    chunks = chunksOf(isResponse(source) ? bodyOf(source) : source);
    if (chunks === undefined) throw new Refused("expected a file's path or URL, bytes, a blob, a response or a stream");
    return openChunks(chunks);
  };
  const made = open().catch((error: unknown) =>
    isRefused(error) ? error.message : `the source cannot be read: ${wordsOf(error)}`,
  );
  return { made, close: () => chunks?.close() };
}
