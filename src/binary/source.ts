import type { Issue } from "../errors/validation.ts";
import { attempt, propertyOf, wordsOf } from "../util/foreign.ts";
import { bytesOf, type Chunks, chunksOf } from "./chunks.ts";
import { concatenate } from "./concatenate.ts";
import { isImage, signatureLength } from "./signature.ts";

/**
 * A Node stream of bytes. It says of any stream that it may give text, since `setEncoding` can make it: one that does is refused
 * when it is read. Written out here because `NodeJS.ReadableStream`, where its declarations are not installed, would accept all.
 */
interface NodeStream extends AsyncIterable<string | Uint8Array> {
  readonly readable: boolean;
  pause(): unknown;
  resume(): unknown;
}

/**
 * Where the bytes of an upload come from: a file's path or `file:` URL, bytes, a blob or file, the body of a response, a web or Node
 * stream, or any other async iterable of bytes.
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
  /** Whether the bytes can be sent once more. A stream can be sent once. */
  readonly replayable: boolean;
  /** The body of the next attempt. */
  body(): Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
}

/** What takes a while to be made of a source, and how the source is let go. */
export interface UploadOpening<Made> {
  readonly made: Promise<Made>;
  /** Lets the source go, whether it is open by now, has been sent, or neither. */
  close(): void;
}

/** What opening a source gives: the upload, or why it cannot be sent. */
export type Opened =
  | { readonly ok: true; readonly upload: Upload }
  | { readonly ok: false; readonly issues: readonly Issue[] };

const refuse = (message: string): Opened => ({ ok: false, issues: [{ path: [], message }] });

const noImage = "the bytes are neither a JPEG nor a PNG, the two formats that the service accepts";

const notBytes = "the stream gives something other than bytes";

/** Reading a blob of a file can fail like reading the file: the file can be a folder, or be deleted by now. */
async function openBlob(blob: Blob, file = "the file"): Promise<Opened> {
  let head: Uint8Array;
  try {
    head = new Uint8Array(await blob.slice(0, signatureLength).arrayBuffer());
  } catch (error) {
    return refuse(`${file} cannot be read: ${wordsOf(error)}`);
  }
  return isImage(head) ? { ok: true, upload: { replayable: true, body: () => blob } } : refuse(noImage);
}

/** A blob of a file reads it piece by piece at each attempt; its size is known. */
async function openFile(path: string): Promise<Opened> {
  const file = `the file ${JSON.stringify(path)}`;
  const { openAsBlob } = await import("node:fs");
  let blob: Blob;
  try {
    blob = await openAsBlob(path);
  } catch (error) {
    return refuse(`${file} cannot be read: ${wordsOf(error)}`);
  }
  return openBlob(blob, file);
}

async function openUrl(url: URL): Promise<Opened> {
  if (url.protocol !== "file:") return refuse("expected a `file:` URL; for another one, give the response of `fetch`");
  const { fileURLToPath } = await import("node:url");
  return openFile(fileURLToPath(url));
}

const isOwn = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> => bytes.buffer instanceof ArrayBuffer;

async function openBytes(given: Uint8Array): Promise<Opened> {
  // Of memory that is shared with other threads `fetch` would make a text.
  const bytes = isOwn(given) ? given : Uint8Array.from(given);
  return isImage(bytes) ? { ok: true, upload: { replayable: true, body: () => bytes } } : refuse(noImage);
}

/** Reads no further than the signature before it is decided whether anything is sent. */
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
  if (!isImage(concatenate(head, length))) return refuse(noImage);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const first = head.shift();
        if (first !== undefined) return controller.enqueue(first);
        const { done, value } = await chunks.next();
        if (done) return controller.close();
        const bytes = bytesOf(value);
        if (bytes === undefined) throw new TypeError(notBytes);
        controller.enqueue(bytes);
      },
      cancel: () => chunks.close(),
    },
    // Nothing is read ahead of the wire, so that a file of any size takes bounded memory.
    { highWaterMark: 0 },
  );
  return { ok: true, upload: { replayable: false, body: () => body } };
}

function openStream(source: unknown): UploadOpening<Opened> {
  let chunks: Chunks | undefined;
  try {
    chunks = chunksOf(source);
  } catch (error) {
    // Whoever reads it already has to let it go.
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

/** Opens the body of a response. That of an error, a page or a JSON object, is refused by the status, which says more than its bytes. */
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

/** The opening of what holds nothing open. */
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
 * Opens a source for uploading and says before anything is sent when its bytes are no JPEG or PNG (specification 2.7). Whoever opens
 * it closes it, whatever comes of it. A source whose properties throw is refused, too.
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
