import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { paint, print } from "../terminal.ts";

/** What Node publishes when a server of this process receives a request. */
interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

function colourOf(status: number): Parameters<typeof paint>[0] {
  if (status < 300) return "green";
  if (status < 400) return "cyan";
  return status < 500 ? "yellow" : "red";
}

const duration = (ms: number): string => (ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** One line: `GET     200     3 ms  /v2/orders`. The status is `lost` when the connection ended before the whole response. */
function requestLine({ request, response }: Received, took: number): string {
  const { method = "", url = "" } = request;
  const status = response.writableFinished
    ? paint(colourOf(response.statusCode), String(response.statusCode).padEnd(4))
    : paint("red", "lost");
  return `${paint("bold", method.padEnd(6))}  ${status} ${paint("dim", duration(took).padStart(8))}  ${url}`;
}

/** Prints a line for each request that a server of this process receives, when its response has ended. */
export function printRequests(): void {
  subscribe("http.server.request.start", (message) => {
    const received = message as Received;
    const begun = performance.now();
    received.response.once("close", () => print(requestLine(received, performance.now() - begun)));
  });
}
