import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** The status of what Node's parser refuses, by the code of its error. */
const statuses: ReadonlyMap<string | undefined, string> = new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"],
]);

/**
 * Responds with the error object to a request that is not HTTP, as to every refusal (specification 7, rule 1). Node responds without a body.
 *
 * Only the first request of a connection has a response: on a later one, it could become a part of another response.
 */
export function refuseMalformed(error: NodeJS.ErrnoException, stream: Duplex): void {
  const { writable, bytesWritten } = stream as Socket;
  if (!writable || bytesWritten > 0 || error.code === "ECONNRESET") {
    stream.destroy();
    return;
  }
  const status = statuses.get(error.code) ?? "400 Bad Request";
  const body = JSON.stringify({
    code: "unknown_input_error",
    message: `The request is not valid HTTP: ${error.message}`,
  });
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  stream.end(`${head}Connection: close\r\n\r\n${body}`, () => stream.destroy());
}
