import type { IncomingMessage } from "node:http";
import { Transform, type TransformCallback } from "node:stream";
import zlib from "node:zlib";

/** Decodes `deflate`, which some servers send with the zlib header, as the standard says, and others without. */
class InflateEither extends Transform {
  #inflate: zlib.Inflate | zlib.InflateRaw | undefined;

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    // The lowest four bits of a zlib header are 8, and those of compressed data without one are not.
    this.#inflate ??= this.#start(((chunk[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw());
    this.#inflate.write(chunk, () => done());
  }

  override _flush(done: TransformCallback): void {
    if (this.#inflate === undefined) done();
    else this.#inflate.once("end", () => done()).end();
  }

  override _read(size: number): void {
    this.#inflate?.resume();
    super._read(size);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#inflate?.destroy();
    done(error);
  }

  #start(inflate: zlib.Inflate | zlib.InflateRaw): zlib.Inflate | zlib.InflateRaw {
    return inflate
      .on("data", (chunk) => {
        if (!this.push(chunk)) inflate.pause();
      })
      .on("error", (error) => this.destroy(error));
  }
}

/** The content codings that this Node can decode. Node has zstd since 22.15. */
const decoders = new Map<string, () => Transform>([
  ["gzip", () => zlib.createGunzip()],
  ["deflate", () => new InflateEither()],
  ["br", () => zlib.createBrotliDecompress()],
]);
if (typeof zlib.createZstdDecompress === "function") decoders.set("zstd", () => zlib.createZstdDecompress());

/** The `Accept-Encoding` of a request. */
export const acceptEncoding = [...decoders.keys()].join(", ");

/** The most codings that a response can have. A response with more is decoded by none. */
const deepest = 3;

/** The decoders of a body, in the order of use: none for a body without a coding, or with one that this Node does not know. */
export function decoded({ headers, statusCode }: IncomingMessage): Transform[] {
  const coding = headers["content-encoding"];
  if (coding === undefined || headers["content-length"] === "0" || statusCode === 204 || statusCode === 304) return [];
  const names = coding.split(",").map((name) =>
    name
      .trim()
      .toLowerCase()
      .replace(/^x-(?=gzip$)/, ""),
  );
  const makers = names.filter((name) => name !== "identity" && name !== "").map((name) => decoders.get(name));
  if (makers.length > deepest || makers.includes(undefined)) return [];
  return makers.reverse().flatMap((make) => make?.() ?? []);
}
