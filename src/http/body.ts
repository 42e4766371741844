import { bytesOf, chunksOf } from "../binary/chunks.ts";
import { ResponseTooLargeError } from "../errors/response-size.ts";

/** The pieces of an answer's body: bytes alone, whatever a partner's `fetch` gives. */
export interface Body {
  /** The next piece; undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  /** Lets the body go, and frees its socket. */
  close(): void;
}

const none: Body = { next: async () => undefined, close: () => undefined };

/** Opens an answer's body. Throws where somebody else has read it, or where it is no stream. */
export function openBody({ body }: Response): Body {
  if (body === null) return none;
  const chunks = chunksOf(body);
  if (chunks === undefined) throw new TypeError("the body of the answer is no stream");
  return {
    next: async () => {
      const { done, value } = await chunks.next();
      if (done) return undefined;
      const bytes = bytesOf(value);
      if (bytes === undefined) throw new TypeError("the body of the answer gives something other than bytes");
      return bytes;
    },
    close: chunks.close,
  };
}

/** Reads a body as text, and no more of it than `limit` bytes: those that come count, whatever the head says of them. */
export async function readText(body: Body, { status }: Response, limit: number, endpoint: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) {
    length += chunk.byteLength;
    if (length > limit) throw new ResponseTooLargeError({ endpoint, limit, status });
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
