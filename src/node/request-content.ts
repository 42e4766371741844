import type { ClientRequest } from "node:http";
import type { WireRequest } from "../http/transport.ts";

type Content = WireRequest["content"];

/** The `Content-Length` of a request; undefined for a GET, and for a stream of unknown size, which is sent in chunks. */
export function lengthOf(method: string, content: Content): number | undefined {
  if (content === undefined) return method === "GET" ? undefined : 0;
  if (typeof content === "string") return Buffer.byteLength(content);
  if (content instanceof Blob) return content.size;
  return content instanceof Uint8Array ? content.byteLength : undefined;
}

/** Sends a chunk, and waits until the connection has taken it. */
const written = (outgoing: ClientRequest, chunk: Uint8Array): Promise<void> =>
  new Promise((resolve) => outgoing.write(chunk, () => resolve()));

/** Sends a stream as fast as the connection takes it. The end of the request releases the stream. */
async function writeStream(outgoing: ClientRequest, stream: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stream.getReader();
  outgoing.on("close", () => reader.cancel().catch(() => undefined));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (outgoing.destroyed) return;
      if (done) return void outgoing.end();
      await written(outgoing, value);
    }
  } catch (error) {
    outgoing.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

/**
 * Sends the body of a request. The request ends when the connection has taken the body: `end` with bytes that still wait adds an empty
 * write, which fails if the server responds and then resets the connection, and the response would be lost.
 */
export function writeContent(outgoing: ClientRequest, content: Content): void {
  if (content === undefined) outgoing.end();
  else if (content instanceof Blob) void writeStream(outgoing, content.stream());
  else if (content instanceof ReadableStream) void writeStream(outgoing, content);
  else outgoing.write(content, () => outgoing.end());
}
