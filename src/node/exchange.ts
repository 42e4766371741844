import type http from "node:http";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { NeverSent } from "../http/connection-errors.ts";
import type { Received, Stop, WireRequest } from "../http/transport.ts";
import type { PartnerClock } from "../util/clock.ts";
import { isError, propertyOf, textOf, wordsOf } from "../util/foreign.ts";
import { isBlob, isWebStream } from "../util/kinds.ts";
import type { HeaderFields, ResponseHead } from "../util/response-head.ts";
import { acceptEncoding, errorWithCode, NodeBody } from "./body.ts";
import { type Connections, httpModule } from "./connections.ts";

/** The headers of all requests: no cache may respond instead of the service. */
const commonHeaders = { "accept-encoding": acceptEncoding, "cache-control": "no-cache", pragma: "no-cache" };

/** Sends one request on a connection, and resolves when the head of its response has arrived. */
export function sendOnConnection(
  connections: Connections,
  request: WireRequest,
  stop: Stop,
  clock: PartnerClock,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const { method, url } = request;
    const outgoing = open(connections, request);
    connections.inFlight += 1;
    let incoming: IncomingMessage | undefined;
    /** Whether a part of the request may have left this process. */
    let left = false;
    let stopTimer: () => void = () => undefined;
    /** The connection to a proxy, while the request has none of its own. */
    let opening: Socket | undefined;
    const destroy = (error: Error) => {
      outgoing.destroy(error);
      opening?.destroy(error);
    };
    stop.onStop(() => destroy(errorWithCode("the request was stopped", "ABORT_ERR")));
    const fail = (error: unknown) => reject(left ? error : new NeverSent(withoutCredentials(error)));
    const startTimer = () => {
      const { connectTimeout: ms } = connections.options;
      const why = `no connection within ${ms} ms (option \`connectTimeout\` of nodeTransport)`;
      stopTimer();
      stopTimer = clock.after(ms, () => destroy(errorWithCode(why, "ETIMEDOUT")));
    };
    const onConnected = () => {
      left = true;
      stopTimer();
    };

    outgoing
      .on("opening", (socket: Socket) => {
        opening = socket;
        if (outgoing.destroyed) socket.destroy(errorWithCode("the request was stopped", "ABORT_ERR"));
        else startTimer();
      })
      .on("socket", (socket) => {
        opening = undefined;
        if (outgoing.reusedSocket || !isConnecting(socket)) return onConnected();
        startTimer();
        socket.once(propertyOf(socket, "encrypted") === true ? "secureConnect" : "connect", onConnected);
      })
      .on("response", (response) => {
        incoming = response;
        response.on("end", () => {
          if (method === "GET") connections.released(outgoing.reusedSocket);
          // The server has responded before the end of the request. If it takes no more of it, the connection would stay open.
          else if (!outgoing.writableFinished) outgoing.destroy();
        });
        const head = headOf(response, url);
        resolve({ head, body: new NodeBody(response, head) });
      })
      .on("error", (error) => {
        if (incoming === undefined && outgoing.reusedSocket && !stop.isStopped) connections.broke();
        fail(error);
        // An error after the end of the response, such as that of bytes that follow it, does not concern the response.
        if (incoming?.complete !== true) incoming?.destroy(error);
      })
      .on("close", () => {
        connections.inFlight -= 1;
        stopTimer();
        // Also when the server wanted another protocol.
        if (incoming === undefined)
          fail(errorWithCode("the connection closed before a response arrived", "ECONNRESET"));
      });
    writeContent(outgoing, request.content);
  });
}

function open(connections: Connections, { method, url, headers, content }: WireRequest): http.ClientRequest {
  try {
    const length = lengthOf(method, content);
    const { protocol, hostname, port, pathname, search } = new URL(url);
    const outgoing = httpModule(protocol).request({
      protocol,
      // The brackets of an IPv6 address are not a part of it.
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port,
      path: pathname + search,
      method,
      headers: { ...commonHeaders, ...headers, ...(length !== undefined && { "content-length": length }) },
      agent: connections.agentFor(protocol, method),
    });
    // By default Node leaves out what follows the first thousand headers. The size of a head is limited in any case.
    outgoing.maxHeadersCount = 0;
    // An agent with `maxSockets` gives the connection of a finished request to one that waits, even without keep-alive.
    if (method !== "GET") outgoing.shouldKeepAlive = false;
    return outgoing;
  } catch (error) {
    throw new NeverSent(error);
  }
}

/** Whether a socket is not open yet, its TLS included. */
const isConnecting = (socket: Socket): boolean => socket.connecting || propertyOf(socket, "secureConnecting") === true;

/** Removes the credentials of a proxy from the message of Node's error about it. */
function withoutCredentials(error: unknown): unknown {
  const message = textOf(error, "message");
  if (!message?.includes("@")) return error;
  return errorWithCode(message.replace(/\/\/[^/\s]*@/g, "//"), String(propertyOf(error, "code") ?? ""));
}

type RequestContent = WireRequest["content"];

/** The `Content-Length` of a request; undefined for a GET, and for a stream of unknown size, which is sent in chunks. */
function lengthOf(method: string, content: RequestContent): number | undefined {
  if (content === undefined) return method === "GET" ? undefined : 0;
  if (typeof content === "string") return Buffer.byteLength(content);
  if (isBlob(content)) return content.size;
  return isWebStream(content) ? undefined : content.byteLength;
}

/**
 * Sends the body of a request. The request ends when the connection has taken the body: `end` with bytes that still wait adds an empty
 * write, which fails if the server responds and then resets the connection, and the response would be lost.
 */
function writeContent(outgoing: http.ClientRequest, content: RequestContent): void {
  if (content === undefined) outgoing.end();
  else if (isBlob(content)) void writeStream(outgoing, content.stream());
  else if (isWebStream(content)) void writeStream(outgoing, content);
  // As bytes: Node writes a string and the head before it in one encoding, and headers are Latin-1.
  else outgoing.write(typeof content === "string" ? Buffer.from(content) : content, () => outgoing.end());
}

/** Sends a stream as fast as the connection takes it. The end of the request releases the stream. */
async function writeStream(outgoing: http.ClientRequest, stream: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stream.getReader();
  outgoing.on("close", () => reader.cancel().catch(() => undefined));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (outgoing.destroyed) return;
      if (done) return void outgoing.end();
      await new Promise<void>((resolve) => outgoing.write(value, () => resolve()));
    }
  } catch (error) {
    outgoing.destroy(isError(error) ? error : new Error(wordsOf(error)));
  }
}

/** Statuses whose responses have no body. */
const bodiless = new Set([204, 205, 304]);

/** The head of a response. Making a `Response` takes longer than everything else here, so it is made when the caller wants it. */
function headOf(
  { statusCode: status = 0, statusMessage: statusText = "", rawHeaders }: IncomingMessage,
  url: string,
): ResponseHead {
  const lines = linesOf(rawHeaders);
  return {
    status,
    ok: status >= 200 && status <= 299,
    url,
    headers: fieldsOf(lines),
    toResponse: () => {
      const response = new Response(bodiless.has(status) ? null : "", { status, statusText, headers: lines });
      // The body was read, as that of every response that the SDK returns.
      response.body?.cancel().catch(() => undefined);
      return Object.defineProperty(response, "url", { value: url });
    },
  };
}

/** The names and values of headers, which Node lists one after the other. */
function linesOf(raw: readonly string[]): [name: string, value: string][] {
  const lines: [string, string][] = [];
  for (let index = 0; index < raw.length; index += 2) lines.push([raw[index] ?? "", raw[index + 1] ?? ""]);
  return lines;
}

/** The headers of a response. Repeated headers are one value with commas, as in the platform's `Headers`, which would load all of `fetch`. */
function fieldsOf(lines: readonly (readonly [string, string])[]): HeaderFields {
  const fields = new Map<string, string>();
  for (const [given, value] of lines) {
    const name = given.toLowerCase();
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return {
    get: (name) => fields.get(name.toLowerCase()) ?? null,
    has: (name) => fields.has(name.toLowerCase()),
    [Symbol.iterator]: () => fields.entries() as ReturnType<HeaderFields[typeof Symbol.iterator]>,
  };
}
