import { RequestValidationError } from "../errors/validation.ts";
import { isBlob, isWebStream } from "../util/kinds.ts";
import { nameOfFile } from "./path.ts";
import { maxHeaderBytes, type PictureSize, sizeIn } from "./picture.ts";
import type { Upload } from "./source.ts";
import { concatenate, streamOf, streamOfBytes } from "./streams.ts";

/** The progress of an upload. */
export interface UploadProgress {
  /** Bytes of this attempt that were handed to the network. The service may have received fewer. */
  readonly sent: number;
  /** Total bytes; undefined for a stream. */
  readonly size: number | undefined;
}

/** The functions that observe an upload. */
export interface UploadWatch {
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  readonly onDownsize?: ((size: PictureSize) => void) | undefined;
}

/** What an upload needs of its call: the name of the endpoint, and what ends the call with a reason. */
export interface UploadCall {
  readonly name: string;
  readonly scope: { end(reason: unknown): void };
}

/** The service downsizes images that are wider or higher than this many pixels (specification 2.7). */
const largestSide = 7_000;

/** Maximum bytes between two reports: the stream of a blob can have all bytes in one chunk. */
const maxReportedBytes = 65_536;

/**
 * Makes an upload report the size of a picture that the service will downsize, and the bytes of each attempt as the network takes them. The
 * call ends if one of the caller's functions throws, or if the file changes before it is sent.
 */
export async function watchUpload(
  upload: Upload,
  { onProgress, onDownsize }: UploadWatch,
  call: UploadCall,
): Promise<Upload> {
  const whole = onDownsize === undefined ? upload : await inspected(upload, guarded(onDownsize, call));
  return { ...whole, body: () => observed(whole, onProgress && guarded(onProgress, call), call) };
}

/** Wraps a function of the caller: if it throws, the call ends with that error. */
const guarded =
  <Given>(report: (given: Given) => void, call: UploadCall) =>
  (given: Given): void => {
    try {
      report(given);
    } catch (error) {
      call.scope.end(error);
      throw error;
    }
  };

/** Reports the size of a picture that the service will downsize. Returns the upload, or an equal one if its stream was read. */
async function inspected(upload: Upload, report: (size: PictureSize) => void): Promise<Upload> {
  const body = upload.body();
  let whole = upload;
  let size: PictureSize | undefined;
  if (ArrayBuffer.isView(body)) size = sizeIn(body);
  else if (isBlob(body)) size = await sizeOfBlob(body);
  else {
    const { size: found, rest } = await peek(body);
    size = found;
    whole = { ...upload, body: () => rest };
  }
  if (size !== undefined && Math.max(size.width, size.height) > largestSide) report(size);
  return whole;
}

/** Reads the size in the header of a blob. An unreadable blob is reported when it is sent. */
async function sizeOfBlob(blob: Blob): Promise<PictureSize | undefined> {
  const head = await blob
    .slice(0, maxHeaderBytes)
    .arrayBuffer()
    .catch(() => new ArrayBuffer());
  return sizeIn(new Uint8Array(head));
}

/** Reads a stream until its picture shows its size. Returns the size, and a stream of all chunks. */
async function peek(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size: PictureSize | undefined;
  let length = 0;
  let searched = 0;
  while (size === undefined && searched < maxHeaderBytes) {
    // A stream that fails here fails again when it is sent.
    const { value } = await reader.read().catch(() => ({ value: undefined }));
    if (value !== undefined) {
      chunks.push(value);
      length += value.byteLength;
      // A search after each chunk would take quadratic time.
      if (length < Math.min(maxHeaderBytes, 2 * searched)) continue;
    }
    size = sizeIn(concatenate(chunks));
    searched = length;
    if (value === undefined) break;
  }
  const rest = streamOf(
    async () => chunks.shift() ?? (await reader.read()).value,
    (reason) => reader.cancel(reason),
  );
  return { size, rest };
}

/** The body of an attempt, which is observed while the network takes it. */
function observed(
  upload: Upload,
  report: UploadWatch["onProgress"],
  { name, scope }: UploadCall,
): ReturnType<Upload["body"]> {
  const body = upload.body();
  if (isWebStream(body)) return report === undefined ? body : reported(body, undefined, report);
  if (report === undefined && ArrayBuffer.isView(body)) return body;
  const blob = isBlob(body) ? body : new Blob([body]);
  const onUnreadable = () => scope.end(fileChanged(upload.path, name));
  const open = () => (isBlob(body) ? body.stream() : streamOfBytes(body));
  const stream = () => reported(open(), blob.size, report, onUnreadable);
  // The `fetch` of Bun does not call `stream` of a blob.
  if (globalThis.process?.versions?.bun !== undefined) return report === undefined ? blob : stream();
  // A blob keeps the exact `Content-Length`; a stream would be sent with chunked encoding.
  return Object.defineProperty(blob.slice(), "stream", { value: stream });
}

/** Reports the bytes of a stream as they are read, in pieces. */
function reported(
  body: ReadableStream<Uint8Array>,
  size: number | undefined,
  report: UploadWatch["onProgress"],
  onUnreadable?: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let waiting: Uint8Array = new Uint8Array();
  let sent = 0;
  const next = async () => {
    if (waiting.byteLength === 0) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        onUnreadable?.();
        throw error;
      });
      if (done) return undefined;
      waiting = value;
    }
    const piece = waiting.subarray(0, maxReportedBytes);
    waiting = waiting.subarray(maxReportedBytes);
    sent += piece.byteLength;
    try {
      report?.({ sent, size });
    } catch (error) {
      await reader.cancel(error);
      throw error;
    }
    return piece;
  };
  return streamOf(next, (reason) => reader.cancel(reason));
}

/** The error for a file that the platform refuses to read, because its size or modification time has changed. */
export const fileChanged = (path: string | undefined, endpoint: string): RequestValidationError =>
  new RequestValidationError({
    issues: [
      {
        path: [],
        message: `${nameOfFile(path)} has changed, or was removed, since the call began: upload it when nothing writes to it`,
      },
    ],
    endpoint,
    incomplete: true,
  });
