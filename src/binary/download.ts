import { PodPartnerError } from "../errors/base.ts";
import { AlreadyReadError } from "../errors/response.ts";
import type { PartnerClock } from "../util/clock.ts";
import type { HeaderFields } from "../util/response-head.ts";
import { saveTo } from "./save.ts";
import { readAll, watched } from "./streams.ts";

/** `Uint8Array<ArrayBuffer>`, which TypeScript below 5.7 does not know. */
export type Bytes = ReturnType<InstanceType<typeof TextEncoder>["encode"]>;

/** The progress of a download. */
export interface Progress {
  /** Bytes received so far. */
  readonly received: number;
  /** Total bytes; undefined if the response has no usable `Content-Length`. */
  readonly size: number | undefined;
}

/** Options for reading the body of a download. */
export interface DownloadOptions {
  /** Called after each chunk. An error that it throws ends the download. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The result of a conditional request when the file has not changed (304): your copy is still valid. */
export interface NotModified {
  /** Distinguishes it from a {@link Download}. */
  readonly modified: false;
  /** The response's `ETag`, quotes included; undefined without one. */
  readonly etag: string | undefined;
  /** The response's `Last-Modified`; undefined without one. */
  readonly lastModified: string | undefined;
}

/** The result of a 304 to a conditional request. */
export const notModified = (headers: HeaderFields): NotModified => ({
  modified: false,
  etag: headers.get("etag") ?? undefined,
  lastModified: headers.get("last-modified") ?? undefined,
});

/** The call that a download belongs to. */
interface DownloadCall {
  readonly endpoint: string;
  readonly clock: PartnerClock;
}

/**
 * A binary response whose body you read once: as a stream, as bytes, as a blob or into a file. A second read throws `AlreadyReadError`.
 * `stream` and `saveTo` use bounded memory.
 *
 * An unread download is canceled, and its socket released, when the call's `timeout` or `deadline` ends.
 */
export class Download {
  /** Distinguishes it from {@link NotModified}. */
  readonly modified = true;
  /** The response's `Content-Type`, for example `image/png`; undefined without one. */
  readonly contentType: string | undefined;
  /** The response's `ETag`, quotes included, for the next conditional request; undefined without one. */
  readonly etag: string | undefined;
  /** The response's `Last-Modified`, for the next conditional request; undefined without one. */
  readonly lastModified: string | undefined;
  /** Total bytes; undefined if the response has no usable `Content-Length`. */
  readonly size: number | undefined;
  readonly #call: DownloadCall;
  /** The stream that the caller reads: the body, or a copy of it that reports progress. */
  #body: ReadableStream<Uint8Array>;
  #use: "read" | "canceled" | undefined;

  /** @internal */
  constructor(headers: HeaderFields, body: ReadableStream<Uint8Array>, call: DownloadCall) {
    this.contentType = headers.get("content-type") ?? undefined;
    this.etag = headers.get("etag") ?? undefined;
    this.lastModified = headers.get("last-modified") ?? undefined;
    this.size = sizeOf(headers);
    this.#body = body;
    this.#call = call;
  }

  /**
   * Returns the body as a web stream. The stream does not read ahead.
   *
   * Reading the stream fails with `ConnectionError` if the body ends too early, with `RequestTimeoutError` or `DeadlineError` if
   * `timeout` or `deadline` ends first, or with the reason of your signal.
   *
   * @throws `AlreadyReadError` if the body was already read or canceled.
   * @example
   * const mockup = await partner.renders.media(renderReference, { wait: true });
   * for await (const chunk of mockup.stream()) process.stdout.write(chunk);
   */
  stream({ onProgress }: DownloadOptions = {}): ReadableStream<Uint8Array> {
    if (this.#use !== undefined)
      throw new AlreadyReadError({ endpoint: this.#call.endpoint, what: "download", use: this.#use });
    this.#use = "read";
    if (onProgress === undefined) return this.#body;
    const { size } = this;
    let received = 0;
    this.#body = watched(this.#body, (chunk) => {
      received += chunk.byteLength;
      onProgress({ received, size });
    });
    return this.#body;
  }

  /**
   * Reads the whole body into memory.
   *
   * @throws `AlreadyReadError` if the body was already read or canceled.
   * @throws The errors that reading {@link Download.stream} throws.
   */
  async bytes(options?: DownloadOptions): Promise<Bytes> {
    return readAll(this.stream(options));
  }

  /**
   * Reads the whole body into a blob with the download's content type.
   *
   * @throws The same errors as {@link Download.bytes}.
   */
  async blob(options?: DownloadOptions): Promise<Blob> {
    return new Blob([await this.bytes(options)], { type: this.contentType ?? "" });
  }

  /**
   * Writes the body to a file, whose path can be a `file:` URL. The write is atomic: the body is written to a temporary file in the same
   * folder, which is then renamed and gets the mode of an existing file. A file that cannot be replaced, for example because it is mounted, is
   * overwritten when the body is complete. If the path is a symbolic link, its target is replaced, and the link stays. A missing folder is
   * created.
   *
   * @throws `AlreadyReadError` if the body was already read or canceled. An existing file stays unchanged.
   * @throws `RequestValidationError` if the path is empty, or a URL that is not a `file:` URL.
   * @throws `FileError` if the file cannot be written: its `code` is that of the file system, for example `ENOSPC`.
   * @throws The errors that reading {@link Download.stream} throws. No partial file remains.
   * @example
   * const mockup = await partner.renders.media(renderReference, { wait: true });
   * await mockup.saveTo("mockup.png");
   */
  async saveTo(path: string | URL, options?: DownloadOptions): Promise<void> {
    const body = this.stream(options);
    try {
      await saveTo(path, body, this.#call.clock);
    } catch (error) {
      await this.cancel();
      if (error instanceof PodPartnerError) error.endpoint ??= this.#call.endpoint;
      throw error;
    }
  }

  /** Cancels an unread body and releases its socket at once. Does nothing if the body is being read. */
  async cancel(): Promise<void> {
    if (this.#body.locked) return;
    this.#use ??= "canceled";
    // A failed body has already reported its error to its reader.
    await this.#body.cancel().catch(() => undefined);
  }
}

function sizeOf(headers: HeaderFields): number | undefined {
  const length = headers.get("content-length");
  // The `Content-Length` of a compressed body is not the number of bytes that are read.
  if (length === null || headers.has("content-encoding") || !/^\d+$/.test(length)) return undefined;
  return Number(length);
}
