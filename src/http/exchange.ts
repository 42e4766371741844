import { Download, type NotModified } from "../binary/download.ts";
import { emptyFile, fileFault, shortfall, trustOf } from "../binary/file-response.ts";
import { PictureEnd } from "../binary/picture.ts";
import { PodPartnerError } from "../errors/base.ts";
import { ConnectionError, DeadlineError, RequestTimeoutError } from "../errors/connection.ts";
import { ResponseTooLargeError } from "../errors/response.ts";
import { ResponseValidationError } from "../errors/validation.ts";
import type { HeaderFields, ResponseHead } from "../util/response-head.ts";
import { Attempt, type AttemptOptions } from "./attempt.ts";
import type { CancelScope } from "./cancel-scope.ts";
import { toConnectionError } from "./connection-errors.ts";
import { type Redact, snapshot } from "./redact.ts";
import { isConditional } from "./request-options.ts";
import { type Arrival, isFileReady } from "./response.ts";
import { type Body, readText, type Sender } from "./transport.ts";

export interface ExchangeOptions extends AttemptOptions, DownloadBodyOptions {
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

export interface DownloadBodyOptions {
  readonly scope: CancelScope;
  readonly endpoint: string;
  readonly redact: Redact;
  /** Called with the error's name when a download times out before the caller began to read it. */
  readonly onUnread: (error: string) => void;
  /** Completes an error that ends a download's body. */
  readonly complete: (error: unknown) => unknown;
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
  readonly #attempt: Attempt;
  readonly #body: Body;
  readonly #check: FileCheck;
  readonly #options: DownloadBodyOptions;
  #unread = true;

  constructor(attempt: Attempt, body: Body, response: ResponseHead, options: DownloadBodyOptions) {
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
  attempt: Attempt,
  body: Body,
  response: ResponseHead,
  options: DownloadBodyOptions,
): ReadableStream<Uint8Array> {
  return new ReadableStream(new DownloadBody(attempt, body, response, options), { highWaterMark: 0 });
}
