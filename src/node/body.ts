import type { IncomingMessage } from "node:http";
import { pipeline, type Readable, type Transform } from "node:stream";
import type zlib from "node:zlib";
import type { Body } from "../http/transport.ts";
import { textOf } from "../util/foreign.ts";
import type { ResponseHead } from "../util/response-head.ts";

/** An error with a code, like those of Node. */
export const errorWithCode = (message: string, code: string): Error => Object.assign(new Error(message), { code });

const cutOffError = () => errorWithCode("the connection closed before the response was complete", "ECONNRESET");

/** A body that closes before its end was cut off. Node reports only "aborted". */
const faultOf = (error: unknown): unknown =>
  /^aborted$|^Premature close$/.test(textOf(error, "message") ?? "") ? cutOffError() : error;

const ignore = () => undefined;

/** A read that waits for the next chunk of a body. */
interface Reader {
  resolve(chunk: Uint8Array | undefined): void;
  reject(error: unknown): void;
}

/** The body of a response of `node:http`, decoded. It listens to events: the iterator of a stream costs more than the rest of a small body. */
export class NodeBody implements Body {
  readonly #incoming: IncomingMessage;
  readonly #stream: Readable;
  /** Chunks that came before they were read. The stream is paused then. */
  readonly #chunks: Uint8Array[] = [];
  #reader: Reader | undefined;

  constructor(incoming: IncomingMessage, head: ResponseHead) {
    this.#incoming = incoming;
    this.#stream = decodersOf(head).reduce<Readable>((from, decoder) => pipeline(from, decoder, ignore), incoming);
    this.#stream
      .pause()
      .on("data", (chunk: Uint8Array) => this.#add(chunk))
      .on("end", () => this.#reader?.resolve(undefined))
      // Without a listener, an error that comes before the body is read would end the process.
      .on("error", (error) => this.#reader?.reject(faultOf(error)))
      .on("close", () => this.#reader?.reject(cutOffError()));
  }

  #add(chunk: Uint8Array): void {
    if (this.#reader === undefined) {
      this.#chunks.push(chunk);
      this.#stream.pause();
    } else {
      this.#reader.resolve(chunk);
      this.#reader = undefined;
    }
  }

  next(): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      const stream = this.#stream;
      const chunk = this.#chunks.shift();
      if (chunk !== undefined || stream.readableEnded) return resolve(chunk);
      if (stream.destroyed) return reject(faultOf(stream.errored ?? cutOffError()));
      this.#reader = { resolve, reject };
      if (stream.isPaused()) stream.resume();
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

/** Node's decoders, which load with the first compressed response. */
const loadZlib = (): typeof zlib => process.getBuiltinModule("node:zlib");

/**
 * The content codings that a response can have. Of the others that Node knows, some servers send `deflate` without its header, and the
 * decoder of `zstd` does not report a truncated body.
 */
const decoders = new Map<string, () => Transform>([
  ["gzip", () => loadZlib().createGunzip()],
  ["br", () => loadZlib().createBrotliDecompress()],
]);

/** The `Accept-Encoding` of a request. */
export const acceptEncoding = [...decoders.keys()].join(", ");

/** The most codings that a response can have. A response with more is decoded by none. */
const maxCodings = 3;

/** The decoders of a body, in the order of use: none for a body without a coding, or with an unknown one. */
function decodersOf({ headers, status }: ResponseHead): Transform[] {
  const coding = headers.get("content-encoding");
  if (coding === null || headers.get("content-length") === "0" || status === 204 || status === 304) return [];
  const names = coding.split(",").map((name) => name.trim().toLowerCase());
  const makers = names
    .filter((name) => name !== "identity" && name !== "")
    .map((name) => decoders.get(name === "x-gzip" ? "gzip" : name));
  if (makers.length > maxCodings || makers.includes(undefined)) return [];
  return makers.reverse().flatMap((make) => make?.() ?? []);
}
