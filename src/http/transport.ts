import { chunksOf, concatenate } from "../binary/streams.ts";
import { ResponseTooLargeError } from "../errors/response.ts";
import type { PartnerClock } from "../util/clock.ts";
import type { ResponseHead } from "../util/response-head.ts";
import { userAgent } from "../util/runtime.ts";
import type { Method } from "./endpoint.ts";
import type { EncodedRequest } from "./request.ts";

/** A request as it goes over the wire. The headers contain the secret key: no error may show them. */
export interface WireRequest {
  readonly method: Method;
  readonly url: string;
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly content: string | Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined;
}

/** A response whose head has arrived, and whose body is open. */
export interface Received {
  readonly head: ResponseHead;
  readonly body: Body;
}

/** Tells a transport that its request was stopped. */
export interface Stop {
  /** Aborts when the request is stopped. It is made when it is read: `node:http` needs none. */
  readonly signal: AbortSignal;
  readonly isStopped: boolean;
  /** Throws the reason if the request was stopped. */
  check(): void;
  /** Sets the function to call when the request is stopped. */
  onStop(listener: () => void): void;
}

/** Makes the type opaque: a program's own object is not a transport. It has no value. */
declare const opaque: unique symbol;

/** How a transport sends one request. Only the client calls it: the published type shows no more than a name. */
export interface SendRequest {
  readonly [opaque]?: never;
  /** @internal */
  (request: WireRequest, stop: Stop, clock: PartnerClock): Promise<Received>;
}

/** Sends requests over the network. `nodeTransport` of `pod-partner/node` makes one. */
export interface Transport {
  /** What the transport is made of, for example `node`. */
  readonly kind: string;
  /** Sends one request and follows no redirect. Only the client calls it. */
  readonly send: SendRequest;
}

/** Sends a request and returns its response. */
export type Sender = (request: EncodedRequest, stop: Stop) => Promise<Received>;

/** Adds the key's header to each request. It is added here and nowhere else. */
export function createSender(secretKey: string, transport: Transport, clock: PartnerClock): Sender {
  const agent = userAgent();
  const defaults: Readonly<Record<string, string>> = agent === undefined ? {} : { "user-agent": agent };
  return ({ method, url, headers, body }, stop) => {
    const content = body === undefined || typeof body === "string" ? body : body.body();
    const all = { ...defaults, ...headers, "x-service-secret-key": secretKey };
    return transport.send({ method, url, headers: all, content }, stop, clock);
  };
}

/** The chunks of a response's body: always bytes, whatever a caller's own `fetch` returns. */
export interface Body {
  /** The next chunk; undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  /** Cancels the body and frees its socket. */
  close(): void;
  /** Sets whether the body's socket keeps the process alive, for a transport that has the socket. */
  readonly keepProcess?: (alive: boolean) => void;
}

const emptyBody: Body = { next: async () => undefined, close: () => undefined };

/** Opens a response's body. Throws if the body was read before or is not a stream. */
export function openBody({ body }: Response): Body {
  if (body === null) return emptyBody;
  const chunks = chunksOf(body);
  if (chunks === undefined) throw new TypeError("the body of the response is not a stream");
  return chunks;
}

/** Made at the first use and shared: it keeps no state between two bodies. */
let decoder: InstanceType<typeof TextDecoder> | undefined;

/** Reads a body as text, at most `limit` bytes. It counts the bytes that arrive: the `Content-Length` can be wrong. */
export async function readText(body: Body, { status }: ResponseHead, limit: number, endpoint: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) {
    length += chunk.byteLength;
    if (length > limit) throw new ResponseTooLargeError({ endpoint, limit, status });
    chunks.push(chunk);
  }
  decoder ??= new TextDecoder();
  // In one piece: a decoder reads it faster than chunk by chunk, and its text takes less memory.
  return decoder.decode(chunks.length === 1 ? chunks[0] : concatenate(chunks));
}
