import { Download, type NotModified } from "../../binary/download.ts";
import { emptyFile, fileFault } from "../../binary/file-response.ts";
import { PictureEnd, shortfall, trustOf } from "../../binary/truncation.ts";
import type { PodPartnerError } from "../../errors/base.ts";
import { ConnectionError, DeadlineError, RequestTimeoutError } from "../../errors/connection.ts";
import { ResponseTooLargeError } from "../../errors/response-size.ts";
import { ResponseValidationError } from "../../errors/validation.ts";
import { keepProcess } from "../../util/clock.ts";
import type { CancelScope } from "../call/cancel-scope.ts";
import { isConditional } from "../endpoint/conditional.ts";
import type { EncodedRequest } from "../endpoint/encode.ts";
import { toConnectionError } from "./connection-errors.ts";
import { type Body, openBody, readText } from "./read-text.ts";
import { type Redact, snapshot } from "./redact.ts";
import type { Transport } from "./transport.ts";
import { UnreadSocket } from "./unread-socket.ts";

/** A response that has arrived: its head, and its body as text or as a download. */
export interface Arrival {
  readonly response: Response;
  /** Empty if the body belongs to a download. */
  readonly text: string;
  readonly download?: Download | NotModified;
}

export interface ExchangeOptions {
  readonly transport: Transport;
  readonly request: EncodedRequest;
  readonly scope: CancelScope;
  readonly endpoint: string;
  /** Milliseconds for the head and the body together. */
  readonly timeout: number;
  /** The maximum size in bytes of a body that is read as text. */
  readonly maxResponseSize: number;
  readonly binary: boolean;
  readonly redact: Redact;
  /** Called when the head arrives. */
  readonly onHead: (response: Response) => void;
  /** Called with the error's name when a download times out before the caller began to read it. */
  readonly onUnread: (error: string) => void;
  /** Completes an error that ends a download's body. */
  readonly complete: (error: unknown) => unknown;
}

/** Sends a request once, and receives its response within the timeout. */
export function exchange(options: ExchangeOptions): Promise<Arrival> {
  const { transport, request, scope, endpoint, timeout, binary, redact, onHead } = options;
  return scope.hold<Arrival>(({ resolve, reject }) => {
    const wire = new AbortController();
    let fail = reject;
    let closeBody: () => void = () => undefined;
    let stopTimer: () => void = () => undefined;
    const socket = binary ? new UnreadSocket(request.url) : undefined;
    const stop = (reason: unknown) => {
      stopTimer();
      socket?.end();
      wire.abort(reason);
      // A `fetch` that ignores its signal has a body that ignores it, too.
      closeBody();
    };
    stopTimer = scope.clock.after(timeout, () => {
      const error = new RequestTimeoutError({ endpoint, timeout });
      fail(error);
      stop(error);
    });

    const receive = async (): Promise<Arrival> => {
      const response = await transport(request, wire.signal);
      const body = openBody(response);
      closeBody = body.close;
      // The call can end before its response arrives.
      if (wire.signal.aborted) body.close();
      wire.signal.throwIfAborted();
      onHead(response);
      if (binary && response.ok && response.status !== 202 && fileFault(response) === undefined) {
        const stream = streamOf(body, response, options, {
          stop,
          fails: (how) => {
            fail = how;
          },
          keep: (alive) => {
            socket?.keep(alive);
            keepProcess(stopTimer, alive);
            scope.keepProcess(alive);
          },
        });
        return { response, text: "", download: new Download(response.headers, stream, endpoint) };
      }
      const text = await readText(body, response, options.maxResponseSize, endpoint);
      stopTimer();
      socket?.end();
      return binary && response.status === 304 && isConditional(request.headers)
        ? { response, text, download: notModified(response.headers) }
        : { response, text };
    };

    receive().then(resolve, (error: unknown) => {
      stopTimer();
      socket?.end();
      closeBody();
      reject(error instanceof ResponseTooLargeError ? error : toConnectionError(error, endpoint, redact));
    });
    return stop;
  });
}

const notModified = (headers: Headers): NotModified => ({
  modified: false,
  etag: headers.get("etag") ?? undefined,
  lastModified: headers.get("last-modified") ?? undefined,
});

/** How a body controls its attempt. */
interface AttemptControl {
  readonly stop: (reason: unknown) => void;
  /** Sets what happens when the attempt times out. */
  readonly fails: (how: (error: unknown) => void) => void;
  /** Sets whether the attempt keeps the process alive. */
  readonly keep: (alive: boolean) => void;
}

/**
 * Makes a stream of a body. It keeps the call open until it is read, cancelled or timed out, and keeps the process alive only while the
 * caller waits for a chunk.
 */
function streamOf(
  body: Body,
  response: Response,
  { scope, endpoint, complete, redact, onUnread }: ExchangeOptions,
  { stop, fails, keep }: AttemptControl,
): ReadableStream<Uint8Array> {
  const trust = trustOf(response);
  const end = new PictureEnd();
  let empty = true;
  let unread = true;
  /** The fault of a body that has ended. */
  const fault = (): PodPartnerError | undefined => {
    const reason = shortfall(trust, end);
    if (reason !== undefined) return new ConnectionError({ endpoint, reason, sent: true });
    if (!empty) return undefined;
    const issues = [{ path: [], message: emptyFile }];
    const shown = snapshot(response.status, response.headers, "", redact);
    return new ResponseValidationError({ issues, response: shown, endpoint });
  };
  const close = () => {
    stop(undefined);
    scope.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (error: unknown) => {
          controller.error(complete(error));
          stop(error);
          scope.close();
          if (unread && (error instanceof RequestTimeoutError || error instanceof DeadlineError)) onUnread(error.name);
        };
        fails(fail);
        keep(false);
        scope.guard(fail);
      },
      async pull(controller) {
        unread = false;
        keep(true);
        try {
          const chunk = await body.next();
          keep(false);
          if (chunk !== undefined) {
            empty &&= chunk.byteLength === 0;
            if (trust !== "told") end.see(chunk);
            return controller.enqueue(chunk);
          }
          close();
          const error = fault();
          if (error === undefined) controller.close();
          else controller.error(complete(error));
        } catch (error) {
          close();
          controller.error(complete(toConnectionError(error, endpoint, redact)));
        }
      },
      cancel: close,
    },
    // The stream reads the body only as fast as the caller reads the stream.
    { highWaterMark: 0 },
  );
}
