import { isImage, signatureLength } from "../../binary/picture.ts";
import { onAbort } from "../../util/abort-signals.ts";
import { Problem } from "../core/problem.ts";
import { bodyRecorderOf } from "../recorder/request-body.ts";

/** Yields the pieces of a request's body as they arrive. Throws at once when the request is aborted. */
async function* piecesOf(request: Request): AsyncGenerator<Uint8Array> {
  const recorder = bodyRecorderOf(request);
  const reader = request.body?.getReader();
  if (reader === undefined) return;
  request.signal.throwIfAborted();
  const cancel = (reason: unknown) => void reader.cancel(reason).catch(() => {});
  const stopListening = onAbort(request.signal, cancel);
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      recorder?.(piece.value);
      yield piece.value;
    }
    request.signal.throwIfAborted();
  } finally {
    stopListening();
    cancel(request.signal.reason);
  }
}

/** The size of the largest body that is kept in memory, in bytes. */
const largest = 32 * 2 ** 20;

/** Reads a body into memory. Refuses a body of more than `limit` bytes as soon as its pieces are too large. */
export async function collect(pieces: AsyncIterable<Uint8Array>, limit = largest): Promise<Uint8Array<ArrayBuffer>> {
  const kept: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.byteLength;
    if (size > limit) throw new Problem("unknown_input_error", `The body must have at most ${limit} bytes`);
    kept.push(piece);
  }
  return new Uint8Array(Buffer.concat(kept));
}

/** Refuses a request whose body has another media type. */
function requireType(request: Request, wanted: string): void {
  const given = request.headers.get("Content-Type")?.split(";")[0]?.trim().toLowerCase();
  if (given === wanted) return;
  throw new Problem("unknown_input_error", `The Content-Type must be ${wanted}; got ${given ?? "none"}`);
}

/** Throws on invalid UTF-8, and keeps a byte order mark, which JSON does not allow (RFC 8259, 8.1). */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the body as JSON. */
export async function readJson(request: Request, limit?: number): Promise<unknown> {
  requireType(request, "application/json");
  const bytes = await collect(piecesOf(request), limit);
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new Problem("unknown_input_error", "The body must be JSON in UTF-8");
  }
}

/** Yields the pieces of a JPEG or PNG body. Checks its first bytes. */
export async function* readImage(request: Request): AsyncGenerator<Uint8Array> {
  requireType(request, "application/octet-stream");
  let head = Buffer.alloc(0);
  for await (const piece of piecesOf(request)) {
    if (head.length < signatureLength) {
      head = Buffer.concat([head, piece.subarray(0, signatureLength)]);
      if (head.length >= signatureLength && !isImage(head)) break;
    }
    yield piece;
  }
  if (!isImage(head)) throw new Problem("unknown_input_error", "The body must be a JPEG or a PNG");
}

/** Refuses a body with content, for an endpoint without one. An object without fields passes: it has no undocumented field. */
export async function refuseContent(request: Request): Promise<void> {
  const content = Buffer.from(await collect(piecesOf(request))).toString();
  if (!["", "{}"].includes(content.replaceAll(/\s/g, "")))
    throw new Problem("unknown_input_error", "The endpoint takes no body");
}
