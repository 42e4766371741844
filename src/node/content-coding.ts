import { Transform, type TransformCallback } from "node:stream";
import type zlib from "node:zlib";
import type { ResponseHead } from "../util/response-head.ts";
import { truncated } from "./errors.ts";
import { ZstdFrame } from "./zstd-frame.ts";

type Decoder = Transform & zlib.Zlib;

/** Node's decoders, which load with the first compressed response. */
const load = (): typeof zlib => process.getBuiltinModule("node:zlib");

/** Decodes with a decoder of Node that it chooses when bytes arrive. */
abstract class Decoding extends Transform {
  protected decoder: Decoder | undefined;

  override _read(size: number): void {
    this.decoder?.resume();
    super._read(size);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.decoder?.destroy();
    done(error);
  }

  protected start(decoder: Decoder): Decoder {
    return decoder
      .on("data", (chunk) => {
        if (!this.push(chunk)) decoder.pause();
      })
      .on("error", (error) => this.destroy(error));
  }

  /** Ends the decoder. `done` is called after its last byte. */
  protected finish(done: () => void): void {
    if (this.decoder === undefined) done();
    else this.decoder.once("end", () => done()).end();
  }
}

/** Decodes `deflate`, which some servers send with the zlib header, as the standard says, and others without. */
class InflateEither extends Decoding {
  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    // The lowest four bits of a zlib header are 8, and those of compressed data without one are not.
    this.decoder ??= this.start(((chunk[0] ?? 0) & 0x0f) === 8 ? load().createInflate() : load().createInflateRaw());
    this.decoder.write(chunk, () => done());
  }

  override _flush(done: TransformCallback): void {
    this.finish(done);
  }
}

/** Decodes `zstd`, each frame with a decoder of its own, and reports a truncated frame. */
class ZstdDecoding extends Decoding {
  #frame: ZstdFrame | undefined;

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#decode(chunk, 0, done);
  }

  override _flush(done: TransformCallback): void {
    done(this.#frame === undefined ? null : truncated());
  }

  #decode(chunk: Buffer, from: number, done: TransformCallback): void {
    if (from === chunk.length) {
      done();
      return;
    }
    this.decoder ??= this.start(load().createZstdDecompress());
    this.#frame ??= new ZstdFrame();
    const frame = this.#frame;
    const end = frame.pass(chunk, from);
    this.decoder.write(chunk.subarray(from, end), () => {
      if (!frame.complete) return done();
      this.finish(() => {
        this.decoder = undefined;
        this.#frame = undefined;
        this.#decode(chunk, end, done);
      });
    });
  }
}

/** The content codings that this Node can decode. Node has zstd since 22.15. */
const decoders = new Map<string, () => Transform>([
  ["gzip", () => load().createGunzip()],
  ["deflate", () => new InflateEither()],
  ["br", () => load().createBrotliDecompress()],
]);
if (process.versions.zstd !== undefined) decoders.set("zstd", () => new ZstdDecoding());

/** The `Accept-Encoding` of a request. */
export const acceptEncoding = [...decoders.keys()].join(", ");

/** The most codings that a response can have. A response with more is decoded by none. */
const deepest = 3;

/** The decoders of a body, in the order of use: none for a body without a coding, or with one that this Node does not know. */
export function decoded({ headers, status }: ResponseHead): Transform[] {
  const coding = headers.get("content-encoding");
  if (coding === null || headers.get("content-length") === "0" || status === 204 || status === 304) return [];
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
