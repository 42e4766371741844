import { Download } from "../binary/download.ts";
import { emptyFile, FileCheck } from "../binary/file-check.ts";
import { PodPartnerError } from "../errors/base.ts";
import { ConnectionError, DeadlineError, RequestTimeoutError } from "../errors/connection.ts";
import { ResponseValidationError } from "../errors/validation.ts";
import { propertyOf } from "../util/foreign.ts";
import type { ResponseHead } from "../util/response-head.ts";
import { builtIn } from "../util/runtime.ts";
import type { Call } from "./call.ts";
import { toConnectionError } from "./connection-errors.ts";
import { snapshot } from "./redact.ts";
import type { Arrival } from "./response.ts";
import type { Body } from "./transport.ts";

/*
 * What happens to a download after its head has arrived, while the caller reads it, or does not.
 */

/** The attempt whose body it is. */
interface OpenAttempt {
  /** Replaces the function that is called when the attempt times out. */
  onTimeout(fail: (error: unknown) => void): void;
  /** Sets whether the attempt and its call keep the process alive. */
  keepProcess(alive: boolean): void;
  stop(reason: unknown): void;
}

/**
 * Makes a download of an open body, which is read only as fast as the caller reads it. It keeps the call open until it is read, canceled or
 * timed out, and keeps the process alive only while the caller waits for a chunk.
 */
export function downloaded(call: Call, attempt: OpenAttempt, body: Body, response: ResponseHead): Arrival {
  const { core, scope, name: endpoint } = call;
  const check = new FileCheck(response);
  let isUnread = true;

  const close = (reason?: unknown) => {
    attempt.stop(reason);
    scope.close();
  };

  /** Throws the fault of a file that has arrived. */
  const assertComplete = () => {
    const reason = check.shortfall();
    if (reason !== undefined) throw new ConnectionError({ endpoint, reason, sent: true });
    if (!check.isEmpty) return;
    const issues = [{ path: [], message: emptyFile }];
    const { status, headers } = response;
    throw new ResponseValidationError({ issues, response: snapshot(status, headers, "", core.redact), endpoint });
  };

  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (error: unknown) => {
          controller.error(call.complete(error));
          close(error);
          const timedOut = error instanceof RequestTimeoutError || error instanceof DeadlineError;
          if (isUnread && timedOut)
            core.observer.observe("onUnreadDownload", { callId: call.id, endpoint, error: error.name });
        };
        attempt.onTimeout(fail);
        attempt.keepProcess(false);
        scope.guard(fail);
      },

      async pull(controller) {
        isUnread = false;
        attempt.keepProcess(true);
        try {
          const chunk = await body.next();
          attempt.keepProcess(false);
          if (chunk !== undefined) {
            check.see(chunk);
            return controller.enqueue(chunk);
          }
          assertComplete();
          close();
          controller.close();
        } catch (error) {
          close();
          const typed = error instanceof PodPartnerError || scope.ended(error);
          controller.error(call.complete(typed ? error : toConnectionError(error, endpoint, core.redact)));
        }
      },

      cancel: () => close(),
    },
    { highWaterMark: 0 },
  );
  const of = { endpoint, clock: core.clock };
  return { response, text: "", download: new Download(response.headers, stream, of) };
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

const sentChannel = "undici:client:sendHeaders";
/** A request has ended: its socket may carry another one by now. */
const endChannels = ["undici:request:trailers", "undici:request:error"];

const addressOf = (request: object): string => `${propertyOf(request, "origin")}${propertyOf(request, "path")}`;

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
  #socket: Socket | undefined;
  #over = false;

  constructor(url: string) {
    const { origin, pathname, search } = new URL(url);
    this.#address = origin + pathname + search;
    this.#channels?.subscribe(sentChannel, this.#onSent);
    for (const name of endChannels) this.#channels?.subscribe(name, this.#onOver);
  }

  /** Sets whether the socket keeps the process alive. */
  keep(alive: boolean): void {
    if (this.#over) return;
    this.#socket ??= this.#find();
    if (alive) this.#socket?.ref();
    else this.#socket?.unref();
  }

  /** The socket, if it is known and carries no other request. Otherwise it stops watching. */
  #find(): Socket | undefined {
    this.#channels?.unsubscribe(sentChannel, this.#onSent);
    const [socket, ...others] = this.#candidates.values();
    // An HTTP/2 connection carries many requests at a time.
    if (socket !== undefined && others.length === 0 && propertyOf(socket, "alpnProtocol") !== "h2") return socket;
    this.end();
    return undefined;
  }

  /** Stops watching. Only once, not at each chunk: clearing an old map allocates memory, which starts the garbage collector. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#channels?.unsubscribe(sentChannel, this.#onSent);
    for (const name of endChannels) this.#channels?.unsubscribe(name, this.#onOver);
    this.#candidates.clear();
    this.#socket = undefined;
  }
}
