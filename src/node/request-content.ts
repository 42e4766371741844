import type { ClientRequest } from "node:http";
import type { WireRequest } from "../http/wire/transport.ts";

type Content = WireRequest["content"];

/** The `Content-Length` of a request; undefined for a GET, and for a stream of unknown size, which is sent in chunks. */
export function lengthOf(method: string, content: Content): number | undefined {
  if (content === undefined) return method === "GET" ? undefined : 0;
  if (typeof content === "string") return Buffer.byteLength(content);
  if (content instanceof Blob) return content.size;
  return content instanceof Uint8Array ? content.byteLength : undefined;
}

/** Waits until the request takes more bytes, or is over. */
function drained(outgoing: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.on("drain", done).on("close", done);
  });
}

/** Sends a stream as fast as the connection takes it. The end of the request releases the stream. */
async function writeStream(outgoing: ClientRequest, stream: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stream.getReader();
  outgoing.on("close", () => reader.cancel().catch(() => undefined));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (outgoing.destroyed) return;
      if (done) return void outgoing.end();
      if (!outgoing.write(value)) await drained(outgoing);
    }
  } catch (error) {
    outgoing.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Sends the body of a request. */
export function writeContent(outgoing: ClientRequest, content: Content): void {
  if (content === undefined || typeof content === "string" || content instanceof Uint8Array) outgoing.end(content);
  else void writeStream(outgoing, content instanceof Blob ? content.stream() : content);
}
