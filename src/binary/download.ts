import { AlreadyReadError } from "../errors/already-read.ts";
import { concatenate } from "./concatenate.ts";
import { saveWhole } from "./save.ts";

/** How far a download is. */
export interface Progress {
  /** Bytes received. */
  readonly received: number;
  /** Bytes in all; undefined when the service did not say. */
  readonly size: number | undefined;
}

/** How the body of a download is read. */
export interface DownloadOptions {
  /** Called after each piece. What it throws ends the reading. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The answer to a conditional request when nothing has changed (304): keep what you have. */
export interface NotModified {
  /** Tells it from a {@link Download}. */
  readonly modified: false;
  /** The answer's `ETag`, quotes included; undefined when it had none. */
  readonly etag: string | undefined;
  /** The answer's `Last-Modified`; undefined when it had none. */
  readonly lastModified: string | undefined;
}

/**
 * A binary answer whose body is read once, in the way you choose, in bounded memory: a second read is an `AlreadyReadError`.
 *
 * A body that nobody reads is let go, socket and all, when the call's `timeout` or `deadline` ends.
 */
export class Download {
  /** Tells it from {@link NotModified}. */
  readonly modified = true;
  /** The answer's `Content-Type`, for example `image/png`; undefined when it had none. */
  readonly contentType: string | undefined;
  /** The answer's `ETag`, quotes included: give it to the next conditional request. Undefined when it had none. */
  readonly etag: string | undefined;
  /** The answer's `Last-Modified`; undefined when it had none. */
  readonly lastModified: string | undefined;
  /** Bytes in all; undefined when the service did not say. */
  readonly size: number | undefined;
  readonly #endpoint: string;
  /** What whoever reads holds, once somebody does: the body itself, or one that counts what goes by. */
  #body: ReadableStream<Uint8Array>;
  #use: "read" | "canceled" | undefined;

  /** @internal */
  constructor(headers: Headers, body: ReadableStream<Uint8Array>, endpoint: string) {
    this.contentType = headers.get("content-type") ?? undefined;
    this.etag = headers.get("etag") ?? undefined;
    this.lastModified = headers.get("last-modified") ?? undefined;
    this.size = sizeOf(headers);
    this.#body = body;
    this.#endpoint = endpoint;
  }

  /**
   * The body as a web stream. Nothing is read ahead of you.
   *
   * Reading it fails with `ConnectionError` when the body ends too early, with `RequestTimeoutError` or `DeadlineError` when its time is
   * over, or with your signal's own reason.
   *
   * @throws `AlreadyReadError` when the body was read or let go before.
   */
  stream({ onProgress }: DownloadOptions = {}): ReadableStream<Uint8Array> {
    if (this.#use !== undefined) throw new AlreadyReadError({ endpoint: this.#endpoint, use: this.#use });
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
   * The whole body in memory.
   *
   * @throws `AlreadyReadError` when the body was read or let go before, otherwise what reading {@link Download.stream} fails with.
   */
  async bytes(options?: DownloadOptions): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of this.stream(options)) {
      chunks.push(chunk);
      length += chunk.byteLength;
    }
    return concatenate(chunks, length);
  }

  /**
   * The whole body as a blob of its content type.
   *
   * @throws the same as {@link Download.bytes}.
   */
  async blob(options?: DownloadOptions): Promise<Blob> {
    return new Blob([await this.bytes(options)], { type: this.contentType ?? "" });
  }

  /**
   * Writes the body to a file. The file appears whole or not at all: it is written beside its place and moved there at the end.
   * Where the path is a link, the file behind it is replaced, and the link stays.
   *
   * @throws `AlreadyReadError` when the body was read or let go before; a file that is there stays as it is.
   * @throws the file system's own error, otherwise what reading {@link Download.stream} fails with. No partial file is left.
   * @example
   * const mockup = await partner.renders.media(renderReference, { wait: true });
   * await mockup.saveTo("mockup.png");
   */
  async saveTo(path: string, options?: DownloadOptions): Promise<void> {
    const body = this.stream(options);
    try {
      await saveWhole(path, body);
    } catch (error) {
      await this.cancel();
      throw error;
    }
  }

  /** Lets the body go unread and frees its socket at once. One that is being read is left to its reader. */
  async cancel(): Promise<void> {
    if (this.#body.locked) return;
    this.#use ??= "canceled";
    // A body that has failed has told its reader so.
    await this.#body.cancel().catch(() => undefined);
  }
}

/**
 * Reports each chunk of a body. The stream fails at the same moment as the body: one that is piped through a `TransformStream` does
 * not fail while a chunk waits to be read.
 */
function watched(body: ReadableStream<Uint8Array>, tell: (chunk: Uint8Array) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => void reader.closed.catch((error: unknown) => controller.error(error)),
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        try {
          tell(value);
        } catch (error) {
          await reader.cancel(error);
          throw error;
        }
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function sizeOf(headers: Headers): number | undefined {
  const length = headers.get("content-length");
  // The length of a compressed body is not the length of what is read.
  if (length === null || headers.has("content-encoding") || !/^\d+$/.test(length)) return undefined;
  return Number(length);
}
