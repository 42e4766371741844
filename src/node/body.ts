import type { IncomingMessage } from "node:http";
import { pipeline, type Readable, type Transform } from "node:stream";
import { chunksOf } from "../binary/streams.ts";
import type { Body } from "../http/wire/read-text.ts";
import { cutOff } from "./errors.ts";

const ignore = () => undefined;

/** A body that closes before its end was cut off. Node says only "aborted". */
const faultOf = (error: unknown): unknown =>
  error instanceof Error && /^aborted$|^Premature close$/.test(error.message) ? cutOff() : error;

/** The body of a response of `node:http`, decoded. */
export class NodeBody implements Body {
  readonly #incoming: IncomingMessage;
  readonly #stream: Readable;
  #chunks: ReturnType<typeof chunksOf>;

  constructor(incoming: IncomingMessage, decoders: readonly Transform[]) {
    this.#incoming = incoming;
    this.#stream = decoders.reduce<Readable>((from, decoder) => pipeline(from, decoder, ignore), incoming);
    // Without a listener, an error that comes before the body is read would end the process.
    this.#stream.on("error", ignore);
  }

  async next(): Promise<Uint8Array | undefined> {
    this.#chunks ??= chunksOf(this.#stream);
    try {
      const next = await this.#chunks?.next();
      return next?.done ? undefined : (next?.value as Uint8Array);
    } catch (error) {
      throw faultOf(error);
    }
  }

  all(limit: number): Promise<Uint8Array | undefined> {
    const stream = this.#stream;
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let length = 0;
      if (stream.errored || stream.destroyed) return reject(faultOf(stream.errored ?? cutOff()));
      stream
        .on("data", (chunk: Buffer) => {
          length += chunk.byteLength;
          if (length <= limit) chunks.push(chunk);
          else {
            resolve(undefined);
            this.close();
          }
        })
        .on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length)))
        .on("error", (error) => reject(faultOf(error)))
        .on("close", () => {
          if (!stream.readableEnded) reject(cutOff());
        });
    });
  }

  close(): void {
    this.#stream.destroy();
    this.#incoming.destroy();
  }

  keepProcess(alive: boolean): void {
    // By then the connection can carry another request.
    if (this.#incoming.closed || this.#incoming.readableEnded) return;
    if (alive) this.#incoming.socket.ref();
    else this.#incoming.socket.unref();
  }
}
