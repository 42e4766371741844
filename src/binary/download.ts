import { concatenate } from "./source.ts";

/** How far a download is. */
export interface Progress {
  /** Bytes received. */
  readonly received: number;
  /** Bytes in all; undefined when the service did not say. */
  readonly size: number | undefined;
}

export interface DownloadOptions {
  /** Called after each piece. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** What a conditional request knows of an earlier download, to be spared an unchanged one. */
export interface Conditional {
  readonly etag?: string | undefined;
  /** The earlier `Last-Modified`. */
  readonly lastModified?: string | undefined;
}

/** The answer to a conditional request when nothing has changed (304): keep what you have. */
export interface NotModified {
  readonly modified: false;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/**
 * A binary answer whose body is read once, in the way you choose, in bounded memory.
 *
 * A body that nobody reads is let go, socket and all, when the call's `timeout` or `deadline` ends.
 */
export class Download {
  readonly modified = true;
  readonly contentType: string | undefined;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /** Bytes in all; undefined when the service did not say. */
  readonly size: number | undefined;
  readonly #body: ReadableStream<Uint8Array>;

  constructor(headers: Headers, body: ReadableStream<Uint8Array>) {
    this.contentType = headers.get("content-type") ?? undefined;
    this.etag = headers.get("etag") ?? undefined;
    this.lastModified = headers.get("last-modified") ?? undefined;
    this.size = sizeOf(headers);
    this.#body = body;
  }

  /** The body as a web stream. Nothing is read ahead of you. */
  stream({ onProgress }: DownloadOptions = {}): ReadableStream<Uint8Array> {
    if (onProgress === undefined) return this.#body;
    const { size } = this;
    let received = 0;
    const report = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        received += chunk.byteLength;
        onProgress({ received, size });
        controller.enqueue(chunk);
      },
    });
    return this.#body.pipeThrough(report);
  }

  /** The whole body in memory. */
  async bytes(options?: DownloadOptions): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of this.stream(options)) {
      chunks.push(chunk);
      length += chunk.byteLength;
    }
    return concatenate(chunks, length);
  }

  /** The whole body as a blob of its content type. */
  async blob(options?: DownloadOptions): Promise<Blob> {
    return new Blob([await this.bytes(options)], { type: this.contentType ?? "" });
  }

  /**
   * Writes the body to a file. The file appears whole or not at all: it is written beside its place and moved there at the end.
   *
   * @example
   * const mockup = await partner.renders.media(render.reference, { wait: true });
   * await mockup.saveTo("mockup.png");
   */
  async saveTo(path: string, options?: DownloadOptions): Promise<void> {
    const { open, rename, rm } = await import("node:fs/promises");
    const partial = `${path}.${crypto.randomUUID()}.part`;
    try {
      const file = await open(partial, "wx");
      try {
        for await (const chunk of this.stream(options)) await file.writeFile(chunk);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(partial, path);
    } catch (error) {
      await this.cancel();
      await rm(partial, { force: true });
      throw error;
    }
  }

  /** Lets the body go unread and frees its socket at once. */
  async cancel(): Promise<void> {
    // A body that has failed has told its reader so.
    if (!this.#body.locked) await this.#body.cancel().catch(() => undefined);
  }
}

function sizeOf(headers: Headers): number | undefined {
  const length = headers.get("content-length");
  // The length of a compressed body is not the length of what is read.
  if (length === null || headers.has("content-encoding") || !/^\d+$/.test(length)) return undefined;
  return Number(length);
}
