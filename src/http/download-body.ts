import { emptyFile, shortfall, trustOf } from "../binary/download.ts";
import { PictureEnd } from "../binary/picture.ts";
import { PodPartnerError } from "../errors/base.ts";
import { ConnectionError, DeadlineError, RequestTimeoutError } from "../errors/connection.ts";
import { ResponseValidationError } from "../errors/validation.ts";
import { propertyOf } from "../util/foreign.ts";
import type { ResponseHead } from "../util/response-head.ts";
import { builtIn } from "../util/runtime.ts";
import type { CancelScope } from "./cancel-scope.ts";
import { toConnectionError } from "./connection-errors.ts";
import { type Redact, snapshot } from "./redact.ts";
import type { Body } from "./transport.ts";

/*
 * What happens to a download after its head has arrived, while the caller reads it, or does not.
 */

export interface DownloadBodyOptions {
  readonly scope: CancelScope;
  readonly endpoint: string;
  readonly redact: Redact;
  /** Called with the error's name when a download times out before the caller began to read it. */
  readonly onUnread: (error: string) => void;
  /** Completes an error that ends a download's body. */
  readonly complete: (error: unknown) => unknown;
}

/** The attempt whose body it is. */
interface OpenAttempt {
  /** Replaces the function that is called when the attempt times out. */
  onTimeout(fail: (error: unknown) => void): void;
  /** Sets whether the attempt and its call keep the process alive. */
  keepProcess(alive: boolean): void;
  stop(reason: unknown): void;
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** Checks the bytes of a file as they arrive: a file that is empty or incomplete is a fault. */
class FileCheck {
  readonly #response: ResponseHead;
  readonly #trust: ReturnType<typeof trustOf>;
  readonly #end = new PictureEnd();
  #empty = true;

  constructor(response: ResponseHead) {
    this.#response = response;
    this.#trust = trustOf(response);
  }

  see(chunk: Uint8Array): void {
    this.#empty &&= chunk.byteLength === 0;
    if (this.#trust !== "detected") this.#end.see(chunk);
  }

  /** The fault of a file that has arrived; undefined if it has none. */
  fault({ endpoint, redact }: DownloadBodyOptions): PodPartnerError | undefined {
    const reason = shortfall(this.#trust, this.#end);
    if (reason !== undefined) return new ConnectionError({ endpoint, reason, sent: true });
    if (!this.#empty) return undefined;
    const { status, headers } = this.#response;
    const issues = [{ path: [], message: emptyFile }];
    return new ResponseValidationError({ issues, response: snapshot(status, headers, "", redact), endpoint });
  }
}

/**
 * The body of a download, as the source of a stream. It keeps the call open until it is read, canceled or timed out, and keeps the
 * process alive only while the caller waits for a chunk.
 */
class DownloadBody {
  readonly #attempt: OpenAttempt;
  readonly #body: Body;
  readonly #check: FileCheck;
  readonly #options: DownloadBodyOptions;
  #unread = true;

  constructor(attempt: OpenAttempt, body: Body, response: ResponseHead, options: DownloadBodyOptions) {
    this.#attempt = attempt;
    this.#body = body;
    this.#check = new FileCheck(response);
    this.#options = options;
  }

  start(controller: Controller): void {
    const fail = (error: unknown) => this.#fail(controller, error);
    this.#attempt.onTimeout(fail);
    this.#attempt.keepProcess(false);
    this.#options.scope.guard(fail);
  }

  async pull(controller: Controller): Promise<void> {
    const { complete, endpoint, redact } = this.#options;
    this.#unread = false;
    this.#attempt.keepProcess(true);
    try {
      const chunk = await this.#body.next();
      this.#attempt.keepProcess(false);
      if (chunk !== undefined) {
        this.#check.see(chunk);
        return controller.enqueue(chunk);
      }
      this.cancel();
      const error = this.#check.fault(this.#options);
      if (error === undefined) controller.close();
      else controller.error(complete(error));
    } catch (error) {
      this.cancel();
      // A cached file can continue with another request, whose error is complete.
      const typed = error instanceof PodPartnerError || this.#options.scope.ended(error);
      controller.error(complete(typed ? error : toConnectionError(error, endpoint, redact)));
    }
  }

  /** Ends the attempt and its call. */
  cancel(): void {
    this.#attempt.stop(undefined);
    this.#options.scope.close();
  }

  /** Ends the body with the error of the timeout, the deadline or the caller's signal. */
  #fail(controller: Controller, error: unknown): void {
    const { complete, scope, onUnread } = this.#options;
    controller.error(complete(error));
    this.#attempt.stop(error);
    scope.close();
    const timedOut = error instanceof RequestTimeoutError || error instanceof DeadlineError;
    if (this.#unread && timedOut) onUnread(error.name);
  }
}

/** Makes a stream of the body of a download. It reads the body only as fast as the caller reads the stream. */
export function downloadStream(
  attempt: OpenAttempt,
  body: Body,
  response: ResponseHead,
  options: DownloadBodyOptions,
): ReadableStream<Uint8Array> {
  return new ReadableStream(new DownloadBody(attempt, body, response, options), { highWaterMark: 0 });
}

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
  readonly #channels = builtIn("node:diagnostics_channel");
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
