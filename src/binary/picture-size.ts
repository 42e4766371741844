import { imageDimensionsFromData } from "image-dimensions";
import type { Upload } from "./source.ts";
import type { PictureSize } from "./upload-watch.ts";

/** The service downsizes images larger than 7000 × 7000 pixels (specification 2.7). */
const largest = 7_000;
/** The bytes in which the header is searched: a JPEG can have much metadata before its size. */
const short = 65_536;
const longest = 1_048_576;

/** The size of a PNG or a JPEG by its first bytes; undefined if they do not show it. */
export function sizeIn(head: Uint8Array): PictureSize | undefined {
  try {
    const found = imageDimensionsFromData(head.subarray(0, longest));
    return found?.type === "png" || found?.type === "jpeg" ? { width: found.width, height: found.height } : undefined;
  } catch {
    return undefined;
  }
}

/** Searches the header of a blob. A blob that cannot be read is reported when it is sent. */
async function sizeOfBlob(blob: Blob, length = short): Promise<PictureSize | undefined> {
  const bytes = await blob
    .slice(0, length)
    .arrayBuffer()
    .catch(() => new ArrayBuffer());
  const size = sizeIn(new Uint8Array(bytes));
  return size !== undefined || blob.size <= length || length === longest ? size : sizeOfBlob(blob, longest);
}

/** The first bytes of a stream as they are read. */
class Head {
  readonly chunks: Uint8Array[] = [];
  size: PictureSize | undefined;
  #length = 0;
  #searched = 0;

  /** Whether more bytes can show the size. */
  get open(): boolean {
    return this.size === undefined && this.#searched < longest;
  }

  add(chunk: Uint8Array): void {
    this.chunks.push(chunk);
    this.#length += chunk.byteLength;
    // Searching after each chunk would take quadratic time.
    if (this.#length >= Math.min(longest, 2 * this.#searched)) this.search();
  }

  search(): void {
    const bytes = new Uint8Array(Math.min(this.#length, longest));
    let at = 0;
    for (const chunk of this.chunks) {
      bytes.set(chunk.subarray(0, bytes.length - at), at);
      at = Math.min(bytes.length, at + chunk.byteLength);
    }
    this.#searched = bytes.length;
    this.size = sizeIn(bytes);
  }
}

/** Reads a stream until its picture shows its size. Returns the size, and a stream of all chunks. */
async function peek(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader();
  const head = new Head();
  while (head.open) {
    // A stream that fails here fails again when it is sent.
    const { value } = await reader.read().catch(() => ({ value: undefined }));
    if (value === undefined) {
      head.search();
      break;
    }
    head.add(value);
  }
  const { chunks, size } = head;
  const whole = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const first = chunks.shift();
        if (first !== undefined) return controller.enqueue(first);
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return { size, whole };
}

/** Reports the size of a picture that the service downsizes. Returns the upload, or an equal one if its stream was read. */
export async function inspected(upload: Upload, report: (size: PictureSize) => void): Promise<Upload> {
  const body = upload.body();
  let whole = upload;
  let size: PictureSize | undefined;
  if (body instanceof Uint8Array) size = sizeIn(body);
  else if (body instanceof Blob) size = await sizeOfBlob(body);
  else {
    const peeked = await peek(body);
    size = peeked.size;
    whole = { replayable: false, body: () => peeked.whole };
  }
  if (size !== undefined && Math.max(size.width, size.height) > largest) report(size);
  return whole;
}
