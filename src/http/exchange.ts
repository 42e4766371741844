import { Download, type NotModified } from "../binary/download.ts";
import { emptyFile, fileFault } from "../binary/file-answer.ts";
import { PictureEnd, shortfall, trustOf } from "../binary/wholeness.ts";
import type { PodPartnerError } from "../errors/base.ts";
import { ConnectionError, TimeoutError } from "../errors/connection.ts";
import { ResponseTooLargeError } from "../errors/response-size.ts";
import { ResponseValidationError } from "../errors/validation.ts";
import { type Body, openBody, readText } from "./body.ts";
import { isConditional } from "./conditional.ts";
import { toFault } from "./connection-fault.ts";
import type { EncodedRequest } from "./encode.ts";
import type { Lifeline } from "./lifeline.ts";
import { type Redact, snapshot } from "./snapshot.ts";
import type { Transport } from "./transport.ts";

/** An answer that has arrived: its head, and its body as text or as a download. */
export interface Arrival {
  readonly response: Response;
  /** Empty where the body is a download's. */
  readonly text: string;
  readonly download?: Download | NotModified;
}

export interface ExchangeOptions {
  readonly transport: Transport;
  readonly request: EncodedRequest;
  readonly lifeline: Lifeline;
  readonly endpoint: string;
  /** Milliseconds for head and body together. */
  readonly timeout: number;
  /** Bytes of a body that is read as text. */
  readonly maxResponseSize: number;
  readonly binary: boolean;
  readonly redact: Redact;
  /** Called as soon as the head is there. */
  readonly onHead: (response: Response) => void;
  /** Completes an error that ends a download's body. */
  readonly complete: (error: unknown) => unknown;
}

/** Sends a request once, and receives its answer within the timeout. */
export function exchange(options: ExchangeOptions): Promise<Arrival> {
  const { transport, request, lifeline, endpoint, timeout, binary, redact, onHead } = options;
  return lifeline.hold<Arrival>(({ resolve, reject }) => {
    const wire = new AbortController();
    let fail = reject;
    let letGo: () => void = () => undefined;
    let stopTimer: () => void = () => undefined;
    const stop = (reason: unknown) => {
      stopTimer();
      wire.abort(reason);
      // A `fetch` that does not heed its signal gives a body that does not, either.
      letGo();
    };
    stopTimer = lifeline.clock.after(timeout, () => {
      const error = new TimeoutError({ endpoint, timeout });
      fail(error);
      stop(error);
    });

    const receive = async (): Promise<Arrival> => {
      const response = await transport(request, wire.signal);
      const body = openBody(response);
      letGo = body.close;
      // The call may have ended before its answer came: nobody waits for it any more.
      if (wire.signal.aborted) body.close();
      wire.signal.throwIfAborted();
      onHead(response);
      if (binary && response.ok && response.status !== 202 && fileFault(response) === undefined) {
        const stream = streamOf(body, response, options, stop, (onFail) => {
          fail = onFail;
        });
        return { response, text: "", download: new Download(response.headers, stream, endpoint) };
      }
      const text = await readText(body, response, options.maxResponseSize, endpoint);
      stopTimer();
      return binary && response.status === 304 && isConditional(request.headers)
        ? { response, text, download: notModified(response.headers) }
        : { response, text };
    };

    receive().then(resolve, (error: unknown) => {
      stopTimer();
      letGo();
      reject(error instanceof ResponseTooLargeError ? error : toFault(error, endpoint, redact));
    });
    return stop;
  });
}

const notModified = (headers: Headers): NotModified => ({
  modified: false,
  etag: headers.get("etag") ?? undefined,
  lastModified: headers.get("last-modified") ?? undefined,
});

/** A body that keeps the call alive until it is read, let go, or out of time. */
function streamOf(
  body: Body,
  response: Response,
  { lifeline, endpoint, complete, redact }: ExchangeOptions,
  stop: (reason: unknown) => void,
  onFail: (fail: (error: unknown) => void) => void,
): ReadableStream<Uint8Array> {
  const trust = trustOf(response);
  const end = new PictureEnd();
  let empty = true;
  /** What is wrong with a body that has come to its end. */
  const fault = (): PodPartnerError | undefined => {
    const reason = shortfall(trust, end);
    if (reason !== undefined) return new ConnectionError({ endpoint, reason, sent: true });
    if (!empty) return undefined;
    const issues = [{ path: [], message: emptyFile }];
    const answer = snapshot(response.status, response.headers, "", redact);
    return new ResponseValidationError({ issues, response: answer, endpoint });
  };
  const close = () => {
    stop(undefined);
    lifeline.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (error: unknown) => {
          controller.error(complete(error));
          stop(error);
          lifeline.close();
        };
        onFail(fail);
        lifeline.guard(fail);
      },
      async pull(controller) {
        try {
          const chunk = await body.next();
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
          controller.error(complete(toFault(error, endpoint, redact)));
        }
      },
      cancel: close,
    },
    // The body is read as fast as the caller reads, no faster.
    { highWaterMark: 0 },
  );
}
