import type http from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { NeverSent } from "../http/connection-errors.ts";
import type { Received, WireRequest } from "../http/transport.ts";
import { onAbort } from "../util/abort-signals.ts";
import { systemClock } from "../util/clock.ts";
import { NodeBody } from "./body.ts";
import { httpModule } from "./builtin.ts";
import type { Connections } from "./connections.ts";
import { acceptEncoding, decoded } from "./content-coding.ts";
import { closedEarly, connectTimedOut, stopped, withoutCredentials } from "./errors.ts";
import { NodeHead } from "./head.ts";
import { lengthOf, writeContent } from "./request-content.ts";
import { targetOf } from "./target.ts";

/** What the SDK's requests have in common: no cache on the way may respond instead of the service. */
const common = { "accept-encoding": acceptEncoding, "cache-control": "no-cache", pragma: "no-cache" };

/** One request and its response on a connection. */
export class NodeExchange {
  readonly received: Promise<Received>;
  readonly #connections: Connections;
  readonly #request: WireRequest;
  readonly #signal: AbortSignal;
  readonly #stopListening: () => void;
  readonly #outgoing: http.ClientRequest;
  /** Whether a part of the request may have left this process. */
  #left = false;
  #stopTimer: (() => void) | undefined;
  #incoming: http.IncomingMessage | undefined;
  #resolve: (received: Received) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(connections: Connections, request: WireRequest, signal: AbortSignal) {
    this.#connections = connections;
    this.#request = request;
    this.#signal = signal;
    this.received = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    try {
      this.#outgoing = this.#open();
    } catch (error) {
      throw new NeverSent(error);
    }
    connections.inFlight += 1;
    this.#stopListening = onAbort(signal, () => this.#outgoing.destroy(stopped()));
    this.#outgoing
      .on("socket", (socket) => this.#onSocket(socket))
      .on("response", (incoming) => this.#onResponse(incoming))
      .on("error", (error) => this.#onError(error))
      .on("close", () => this.#onClose());
    writeContent(this.#outgoing, request.content);
  }

  #open(): http.ClientRequest {
    const { method, url, headers, content } = this.#request;
    const target = targetOf(url);
    const { protocol } = target;
    const length = lengthOf(method, content);
    const outgoing = httpModule(protocol).request({
      ...target,
      method,
      headers: length === undefined ? { ...common, ...headers } : { ...common, ...headers, "content-length": length },
      agent: this.#connections.agentFor(protocol, method),
    });
    // An agent with `maxSockets` gives the connection of a finished request to one that waits, even without keep-alive.
    if (method !== "GET") outgoing.shouldKeepAlive = false;
    return outgoing;
  }

  #onSocket(socket: Socket): void {
    const secure = (socket as Partial<TLSSocket>).encrypted === true;
    const connecting = socket.connecting || (socket as { secureConnecting?: boolean }).secureConnecting === true;
    if (this.#outgoing.reusedSocket || !connecting) {
      this.#left = true;
      return;
    }
    const { connectTimeout } = this.#connections;
    this.#stopTimer = systemClock.after(connectTimeout, () => this.#outgoing.destroy(connectTimedOut(connectTimeout)));
    socket.once(secure ? "secureConnect" : "connect", () => {
      this.#left = true;
      this.#stopTimer?.();
    });
  }

  #onResponse(incoming: http.IncomingMessage): void {
    const { method, url } = this.#request;
    const connections = this.#connections;
    const { reusedSocket } = this.#outgoing;
    this.#incoming = incoming;
    incoming.on("end", () => {
      if (method === "GET") connections.released(reusedSocket);
      // The server has responded before the end of the request. If it takes no more of it, the connection would stay open.
      else if (!this.#outgoing.writableFinished) this.#outgoing.destroy();
    });
    const head = new NodeHead(incoming, url);
    this.#resolve({ head, body: new NodeBody(incoming, decoded(head)) });
  }

  #onError(error: Error): void {
    const lost = this.#incoming === undefined && !this.#signal.aborted;
    if (lost && this.#outgoing.reusedSocket) this.#connections.broke();
    this.#fail(error);
    // An error after the end of the response, such as that of bytes that follow it, does not concern the response.
    if (this.#incoming?.complete !== true) this.#incoming?.destroy(error);
  }

  #onClose(): void {
    this.#connections.inFlight -= 1;
    this.#stopTimer?.();
    this.#stopListening();
    if (this.#incoming === undefined) this.#fail(closedEarly());
  }

  #fail(error: unknown): void {
    this.#reject(this.#left ? error : new NeverSent(withoutCredentials(error)));
  }
}
