import { Download, type NotModified } from "../../binary/download.ts";
import { fileFault } from "../../binary/file-response.ts";
import { ResponseTooLargeError } from "../../errors/response-size.ts";
import type { HeaderFields, ResponseHead } from "../../util/response-head.ts";
import { isConditional } from "../endpoint/conditional.ts";
import { Attempt, type AttemptOptions } from "./attempt.ts";
import { toConnectionError } from "./connection-errors.ts";
import { type DownloadBodyOptions, downloadStream } from "./download-body.ts";
import { readText } from "./read-text.ts";
import type { Sender } from "./transport.ts";

/** A response that has arrived: its head, and its body as text or as a download. */
export interface Arrival {
  readonly response: ResponseHead;
  /** Empty if the body belongs to a download. */
  readonly text: string;
  readonly download?: Download | NotModified;
}

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

/** Whether a response to a request for a file is a success. A 202 means that the file is not ready. */
export const isFileReady = ({ ok, status }: Pick<ResponseHead, "ok" | "status">): boolean => ok && status !== 202;

const notModified = (headers: HeaderFields): NotModified => ({
  modified: false,
  etag: headers.get("etag") ?? undefined,
  lastModified: headers.get("last-modified") ?? undefined,
});
