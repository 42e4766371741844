import { propertyOf } from "../util/foreign.ts";

interface Socket {
  ref(): unknown;
  unref(): unknown;
}

/** What undici, the `fetch` of Node, tells on its channels (its documentation: Diagnostics Channel Support). */
interface Told {
  readonly request: object;
  readonly socket?: Socket;
}

const sent = "undici:client:sendHeaders";
/** A request that is over: its socket may carry another one by now. */
const over = ["undici:request:trailers", "undici:request:error"];

const addressOf = (request: object): string => `${propertyOf(request, "origin")}${propertyOf(request, "path")}`;

/** A connection that may carry many requests at a time belongs to none of them. */
const isShared = (socket: Socket | undefined): boolean => propertyOf(socket, "alpnProtocol") === "h2";

/**
 * Finds the socket of one request, to let go of it while its download is unread: one whose body has not come in full keeps the process
 * alive otherwise. Where several requests for the same address are under way at a time, or the runtime tells of none, it does nothing.
 */
export class UnreadSocket {
  readonly #address: string;
  readonly #candidates = new Map<object, Socket | undefined>();
  readonly #channels = globalThis.process?.getBuiltinModule?.("node:diagnostics_channel");
  readonly #onSent = (message: unknown) => {
    const { request, socket } = message as Told;
    if (addressOf(request) === this.#address) this.#candidates.set(request, socket);
  };
  readonly #onOver = (message: unknown) => {
    if (this.#candidates.has((message as Told).request)) this.end();
  };
  #letGo: Socket | undefined;

  constructor(url: string) {
    const { origin, pathname, search } = new URL(url);
    this.#address = origin + pathname + search;
    this.#channels?.subscribe(sent, this.#onSent);
    for (const name of over) this.#channels?.subscribe(name, this.#onOver);
  }

  /** Whether the socket keeps the process alive. Once it has been held again it stays so. */
  keep(alive: boolean): void {
    if (alive) {
      this.#letGo?.ref();
      this.end();
      return;
    }
    this.#channels?.unsubscribe(sent, this.#onSent);
    const [socket, ...others] = this.#candidates.values();
    if (others.length > 0 || isShared(socket)) return;
    this.#letGo = socket;
    socket?.unref();
  }

  /** Watches no longer. */
  end(): void {
    this.#channels?.unsubscribe(sent, this.#onSent);
    for (const name of over) this.#channels?.unsubscribe(name, this.#onOver);
    this.#candidates.clear();
    this.#letGo = undefined;
  }
}
