import type { Issue } from "../errors/validation.ts";
import { concatenate } from "./concatenate.ts";
import { isImage, signatureLength } from "./signature.ts";

/** Where the bytes of an upload come from: a file's path, bytes, a blob or file, or a web or Node stream. */
export type ImageSource = string | Uint8Array | Blob | ReadableStream<Uint8Array> | NodeJS.ReadableStream;

/** An upload that is ready to be sent. */
export interface Upload {
  /** Whether the bytes can be sent once more. A stream can be sent once. */
  readonly replayable: boolean;
  /** The body of the next attempt. */
  body(): Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  /** Lets a stream go that is not read to its end: behind it may be an open file. */
  close(): void;
}

const nothingOpen = () => undefined;

/** What opening a source gives: the upload, or why it cannot be sent. */
export type Opened =
  | { readonly ok: true; readonly upload: Upload }
  | { readonly ok: false; readonly issues: readonly Issue[] };

const refuse = (message: string): Opened => ({ ok: false, issues: [{ path: [], message }] });

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const noImage = "the bytes are neither a JPEG nor a PNG, the two formats that the service accepts";

const notBytes = "the stream gives something other than bytes";

/** A blob of a file can fail as a file does: it may be a folder, or be gone by now. */
async function openBlob(blob: Blob): Promise<Opened> {
  let head: Uint8Array;
  try {
    head = new Uint8Array(await blob.slice(0, signatureLength).arrayBuffer());
  } catch (error) {
    return refuse(`the file cannot be read: ${reasonOf(error)}`);
  }
  return isImage(head)
    ? { ok: true, upload: { replayable: true, body: () => blob, close: nothingOpen } }
    : refuse(noImage);
}

/** A blob of a file reads it piece by piece at each attempt; its size is known. */
async function openFile(path: string): Promise<Opened> {
  const { openAsBlob } = await import("node:fs");
  let blob: Blob;
  try {
    blob = await openAsBlob(path);
  } catch (error) {
    return refuse(`the file cannot be read: ${reasonOf(error)}`);
  }
  return openBlob(blob);
}

/** A chunk as bytes; undefined where it is something else. A file handle of Node 22 gives buffers without a view. */
function bytesOf(chunk: unknown): Uint8Array | undefined {
  if (chunk instanceof Uint8Array) return chunk;
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return chunk instanceof ArrayBuffer ? new Uint8Array(chunk) : undefined;
}

/** Reads no further than the signature before it is decided whether anything is sent. */
async function openStream(source: AsyncIterable<unknown>): Promise<Opened> {
  const chunks = source[Symbol.asyncIterator]();
  const refuseAndClose = async (message: string): Promise<Opened> => {
    try {
      await chunks.return?.();
    } catch {
      // It fails as it is let go: that it is no picture is what the caller can mend.
    }
    return refuse(message);
  };
  const head: Uint8Array[] = [];
  let length = 0;
  try {
    while (length < signatureLength) {
      const { done, value } = await chunks.next();
      if (done) break;
      const bytes = bytesOf(value);
      if (bytes === undefined) return refuseAndClose(notBytes);
      head.push(bytes);
      length += bytes.byteLength;
    }
  } catch (error) {
    return refuse(`the stream cannot be read: ${reasonOf(error)}`);
  }
  if (!isImage(concatenate(head, length))) return refuseAndClose(noImage);
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
      async cancel() {
        await chunks.return?.();
      },
    },
    // Nothing is read ahead of the wire, so that a file of any size takes bounded memory.
    { highWaterMark: 0 },
  );
  const close = () => {
    if ("destroy" in source && typeof source.destroy === "function") source.destroy();
    else chunks.return?.().catch(() => undefined);
  };
  return { ok: true, upload: { replayable: false, body: () => body, close } };
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

const isOwn = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> => bytes.buffer instanceof ArrayBuffer;

/** Opens a source for uploading and says before anything is sent when its bytes are no JPEG or PNG (specification 2.7). */
export async function openImage(source: unknown): Promise<Opened> {
  if (typeof source === "string") return openFile(source);
  if (source instanceof Uint8Array) {
    // Of memory that is shared with other threads `fetch` would make a text.
    const bytes = isOwn(source) ? source : Uint8Array.from(source);
    const upload = { replayable: true, body: () => bytes, close: nothingOpen };
    return isImage(bytes) ? { ok: true, upload } : refuse(noImage);
  }
  if (source instanceof Blob) return openBlob(source);
  if (isIterable(source)) return openStream(source);
  return refuse("expected a file's path, bytes, a blob or a stream");
}
