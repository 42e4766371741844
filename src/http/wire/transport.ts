import type { PartnerClock } from "../../util/clock.ts";
import type { ResponseHead } from "../../util/response-head.ts";
import { userAgent } from "../../util/runtime.ts";
import type { EncodedRequest } from "../endpoint/encode.ts";
import type { Method } from "../endpoint/endpoint.ts";
import type { Body } from "./read-text.ts";

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

/** Makes the type opaque: a program's own object is not a transport. It has no value. */
declare const opaque: unique symbol;

/** How a transport sends one request. Only the client calls it: the published type shows no more than a name. */
export interface SendRequest {
  readonly [opaque]?: never;
  /** @internal */
  (request: WireRequest, signal: AbortSignal, clock: PartnerClock): Promise<Received>;
}

/** Sends requests over the network. `nodeTransport` of `pod-partner/node` makes one. */
export interface Transport {
  /** What the transport is made of, for example `node`. */
  readonly kind: string;
  /** Sends one request and follows no redirect. Only the client calls it. */
  readonly send: SendRequest;
}

/** Sends a request and returns its response. */
export type Sender = (request: EncodedRequest, signal: AbortSignal) => Promise<Received>;

/** Adds the key's header to each request. It is added here and nowhere else. */
export function createSender(secretKey: string, transport: Transport, clock: PartnerClock): Sender {
  const agent = userAgent();
  const own: Readonly<Record<string, string>> = agent === undefined ? {} : { "user-agent": agent };
  return ({ method, url, headers, body }, signal) => {
    const content = body === undefined || typeof body === "string" ? body : body.body();
    const all = { ...own, ...headers, "x-service-secret-key": secretKey };
    return transport.send({ method, url, headers: all, content }, signal, clock);
  };
}
