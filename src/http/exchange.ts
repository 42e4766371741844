import { notModified } from "../binary/download.ts";
import { fileFault } from "../binary/file-check.ts";
import { RequestTimeoutError } from "../errors/connection.ts";
import { ResponseTooLargeError } from "../errors/response.ts";
import { abortController } from "../util/abort-signals.ts";
import { keepProcess } from "../util/clock.ts";
import type { ResponseHead } from "../util/response-head.ts";
import type { Call } from "./call.ts";
import type { CancelScope } from "./cancel-scope.ts";
import { toConnectionError } from "./connection-errors.ts";
import { downloaded, UnreadSocket } from "./download-body.ts";
import type { EncodedRequest } from "./request.ts";
import { isConditional } from "./request-options.ts";
import { type Arrival, isFileReady } from "./response.ts";
import { type Body, readText, type Stop } from "./transport.ts";

/**
 * Sends a request once, and receives its response.
 *
 * @param timeout Milliseconds for the head and the body together.
 * @param onHead Called when the head arrives.
 */
export function exchange(
  call: Call,
  request: EncodedRequest,
  timeout: number,
  onHead: (response: ResponseHead) => void,
): Promise<Arrival> {
  return call.scope.hold<Arrival>(({ resolve, reject }) => {
    const socket = call.endpoint.response.kind === "binary" ? new UnreadSocket(request.url) : undefined;
    const attempt = new WireAttempt(call, timeout, reject, socket);
    receive(call, request, attempt, onHead).then(resolve, (error: unknown) => {
      attempt.release();
      const typed = error instanceof ResponseTooLargeError;
      reject(typed ? error : toConnectionError(error, call.name, call.core.redact));
    });
    return (reason) => attempt.stop(reason);
  });
}

/** Receives the head of the response, then its body: a file as a download that the caller reads, any other body as text. */
async function receive(
  call: Call,
  request: EncodedRequest,
  attempt: WireAttempt,
  onHead: (response: ResponseHead) => void,
): Promise<Arrival> {
  const { core, endpoint, name } = call;
  const isFile = endpoint.response.kind === "binary";
  const { head: response, body } = await core.transport(request, attempt);
  attempt.open(body);
  // No final response has such a status (RFC 9110, 15): whether the service carried out the request is unknown.
  if (response.status < 200) throw new TypeError(`the response has the status ${response.status}, which is not final`);
  onHead(response);
  if (isFile && isFileReady(response) && fileFault(response) === undefined)
    return downloaded(call, attempt, body, response);
  const text = await readText(body, response, core.maxResponseSize, name);
  attempt.finish();
  return isFile && response.status === 304 && isConditional(request.headers)
    ? { response, text, download: notModified(response.headers) }
    : { response, text };
}

/** What one attempt holds while it is on the wire: its signal, its timer, its socket and its open body. It releases them together. */
class WireAttempt implements Stop {
  #wire: AbortController | undefined;
  #stopped: { readonly reason: unknown } | undefined;
  #onStop: (() => void) | undefined;
  readonly #scope: CancelScope;
  readonly #socket: UnreadSocket | undefined;
  readonly #stopTimer: () => void;
  #fail: (error: unknown) => void;
  #body: Body | undefined;

  /** @param socket The socket of a file, whose body the caller may leave unread. */
  constructor(
    { scope, name }: Call,
    timeout: number,
    onTimeout: (error: unknown) => void,
    socket: UnreadSocket | undefined,
  ) {
    this.#scope = scope;
    this.#fail = onTimeout;
    this.#socket = socket;
    this.#stopTimer = scope.clock.after(timeout, () => {
      const error = new RequestTimeoutError({ endpoint: name, timeout });
      this.#fail(error);
      this.stop(error);
    });
  }

  get signal(): AbortSignal {
    this.#wire ??= abortController();
    return this.#wire.signal;
  }

  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  check(): void {
    if (this.#stopped !== undefined) throw this.#stopped.reason;
  }

  onStop(listener: () => void): void {
    this.#onStop = listener;
  }

  /** Takes over the body of the response. Throws if the attempt was stopped before the response arrived. */
  open(body: Body): void {
    this.#body = body;
    if (this.isStopped) body.close();
    this.check();
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
    this.#stopped ??= { reason };
    this.#wire?.abort(reason);
    this.#onStop?.();
    // A `fetch` that ignores its signal has a body that ignores it, too.
    this.#body?.close();
  }
}
