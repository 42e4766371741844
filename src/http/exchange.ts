import { Download, fileFault, type NotModified } from "../binary/download.ts";
import { RequestTimeoutError } from "../errors/connection.ts";
import { ResponseTooLargeError } from "../errors/response.ts";
import { keepProcess } from "../util/clock.ts";
import type { HeaderFields, ResponseHead } from "../util/response-head.ts";
import type { CancelScope } from "./cancel-scope.ts";
import { toConnectionError } from "./connection-errors.ts";
import { type DownloadBodyOptions, downloadStream, UnreadSocket } from "./download-body.ts";
import type { EncodedRequest } from "./request.ts";
import { isConditional } from "./request-options.ts";
import { type Arrival, isFileReady } from "./response.ts";
import { type Body, readText, type Sender } from "./transport.ts";

interface ExchangeOptions extends AttemptOptions, DownloadBodyOptions {
  readonly transport: Sender;
  /** The maximum size in bytes of a body that is read as text. */
  readonly maxResponseSize: number;
  /** Called when the head arrives. */
  readonly onHead: (response: ResponseHead) => void;
}

/** Sends a request once, and receives its response within the timeout. */
export function exchange(options: ExchangeOptions): Promise<Arrival> {
  const { scope, endpoint, redact } = options;
  return scope.hold<Arrival>(({ resolve, reject }) => {
    const attempt = new Attempt(options, reject);
    receive(attempt, options).then(resolve, (error: unknown) => {
      attempt.release();
      reject(error instanceof ResponseTooLargeError ? error : toConnectionError(error, endpoint, redact));
    });
    return (reason) => attempt.stop(reason);
  });
}

/** Receives the head of the response, then its body: a file as a download that the caller reads, any other body as text. */
async function receive(attempt: Attempt, options: ExchangeOptions): Promise<Arrival> {
  const { transport, request, endpoint, binary } = options;
  const { head: response, body } = await transport(request, attempt.signal);
  attempt.open(body);
  // No final response has such a status (RFC 9110, 15): whether the service carried out the request is unknown.
  if (response.status < 200) throw new TypeError(`the response has the status ${response.status}, which is not final`);
  options.onHead(response);
  if (binary && isFileReady(response) && fileFault(response) === undefined) {
    const stream = downloadStream(attempt, body, response, options);
    return {
      response,
      text: "",
      download: new Download(response.headers, stream, { endpoint, clock: options.scope.clock }),
    };
  }
  const text = await readText(body, response, options.maxResponseSize, endpoint);
  attempt.finish();
  return binary && response.status === 304 && isConditional(request.headers)
    ? { response, text, download: notModified(response.headers) }
    : { response, text };
}

const notModified = (headers: HeaderFields): NotModified => ({
  modified: false,
  etag: headers.get("etag") ?? undefined,
  lastModified: headers.get("last-modified") ?? undefined,
});

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
