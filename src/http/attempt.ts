import { RequestTimeoutError } from "../errors/connection.ts";
import { keepProcess } from "../util/clock.ts";
import { propertyOf } from "../util/foreign.ts";
import type { CancelScope } from "./cancel-scope.ts";
import type { EncodedRequest } from "./request.ts";
import type { Body } from "./transport.ts";

interface Socket {
  ref(): unknown;
  unref(): unknown;
}

/** A message of undici, the `fetch` of Node (its documentation: Diagnostics Channel Support). */
interface Message {
  readonly request: object;
  readonly socket?: Socket;
}

const sent = "undici:client:sendHeaders";
/** A request has ended: its socket may carry another one by now. */
const over = ["undici:request:trailers", "undici:request:error"];

const addressOf = (request: object): string => `${propertyOf(request, "origin")}${propertyOf(request, "path")}`;

/** An HTTP/2 connection carries many requests at a time. */
const isShared = (socket: Socket | undefined): boolean => propertyOf(socket, "alpnProtocol") === "h2";

/**
 * Finds the socket of one request, so that it does not keep the process alive while the download is unread and its body has not
 * arrived in full. It does nothing while several requests for the same URL are in progress, and on a runtime without these channels.
 */
export class UnreadSocket {
  readonly #address: string;
  readonly #candidates = new Map<object, Socket | undefined>();
  readonly #channels = globalThis.process?.getBuiltinModule?.("node:diagnostics_channel");
  readonly #onSent = (message: unknown) => {
    const { request, socket } = message as Message;
    if (addressOf(request) === this.#address) this.#candidates.set(request, socket);
  };
  readonly #onOver = (message: unknown) => {
    if (this.#candidates.has((message as Message).request)) this.end();
  };
  #released: Socket | undefined;
  #over = false;

  constructor(url: string) {
    const { origin, pathname, search } = new URL(url);
    this.#address = origin + pathname + search;
    this.#channels?.subscribe(sent, this.#onSent);
    for (const name of over) this.#channels?.subscribe(name, this.#onOver);
  }

  /** Sets whether the socket keeps the process alive. After the first `true` it stays that way. */
  keep(alive: boolean): void {
    if (this.#over) return;
    if (alive) {
      this.#released?.ref();
      this.end();
      return;
    }
    this.#channels?.unsubscribe(sent, this.#onSent);
    const [socket, ...others] = this.#candidates.values();
    if (others.length > 0 || isShared(socket)) return;
    this.#released = socket;
    socket?.unref();
  }

  /** Stops watching. It happens once, not at each chunk: an old map that is cleared takes new memory, which starts the garbage collector. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#channels?.unsubscribe(sent, this.#onSent);
    for (const name of over) this.#channels?.unsubscribe(name, this.#onOver);
    this.#candidates.clear();
    this.#released = undefined;
  }
}

export interface AttemptOptions {
  readonly scope: CancelScope;
  readonly request: EncodedRequest;
  readonly endpoint: string;
  /** Milliseconds for the head and the body together. */
  readonly timeout: number;
  /** Whether the response can be a file, whose body the caller may leave unread. */
  readonly binary: boolean;
}

/** What one attempt holds while it is on the wire: its signal, its timer, its socket and its open body. It releases them together. */
export class Attempt {
  readonly #wire = new AbortController();
  readonly #scope: CancelScope;
  readonly #socket: UnreadSocket | undefined;
  readonly #stopTimer: () => void;
  #fail: (error: unknown) => void;
  #body: Body | undefined;

  constructor({ scope, request, endpoint, timeout, binary }: AttemptOptions, onTimeout: (error: unknown) => void) {
    this.#scope = scope;
    this.#fail = onTimeout;
    this.#socket = binary ? new UnreadSocket(request.url) : undefined;
    this.#stopTimer = scope.clock.after(timeout, () => {
      const error = new RequestTimeoutError({ endpoint, timeout });
      this.#fail(error);
      this.stop(error);
    });
  }

  get signal(): AbortSignal {
    return this.#wire.signal;
  }

  /** Takes over the body of the response. Throws if the attempt was stopped before the response arrived. */
  open(body: Body): void {
    this.#body = body;
    if (this.signal.aborted) body.close();
    this.signal.throwIfAborted();
  }

  /** Replaces the function that is called when the attempt times out. */
  onTimeout(fail: (error: unknown) => void): void {
    this.#fail = fail;
  }

  /** Sets whether the attempt and its call keep the process alive. */
  keepProcess(alive: boolean): void {
    this.#socket?.keep(alive);
    this.#body?.keepProcess?.(alive);
    keepProcess(this.#stopTimer, alive);
    this.#scope.keepProcess(alive);
  }

  /** Ends an attempt whose response was received in full. */
  finish(): void {
    this.#stopTimer();
    this.#socket?.end();
  }

  /** Ends an attempt that failed. */
  release(): void {
    this.finish();
    this.#body?.close();
  }

  /** Ends the attempt from outside: the pending request or read fails with the reason. */
  stop(reason: unknown): void {
    this.finish();
    this.#wire.abort(reason);
    // A `fetch` that ignores its signal has a body that ignores it, too.
    this.#body?.close();
  }
}
