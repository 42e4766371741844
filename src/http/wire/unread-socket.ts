import { propertyOf } from "../../util/foreign.ts";

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
