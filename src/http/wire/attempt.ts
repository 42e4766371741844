import { RequestTimeoutError } from "../../errors/connection.ts";
import { keepProcess } from "../../util/clock.ts";
import type { CancelScope } from "../cancel-scope.ts";
import type { EncodedRequest } from "../endpoint/encode.ts";
import type { Body } from "./read-text.ts";
import { UnreadSocket } from "./unread-socket.ts";

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
