import { abortController, throwIfAborted } from "../../util/abort-signals.ts";
/** The service as one function. */
export type Service = (request: Request) => Promise<Response>;

/** Whole seconds, rounded up: the unit that the service's headers use (specification 8). */
export const toSeconds = (ms: number): number => Math.ceil(ms / 1000);

/** The header `Retry-After`: a number is milliseconds, a string is sent unchanged. */
export function retryAfterHeader(retryAfter: number | string | undefined): Readonly<Record<string, string>> {
  if (retryAfter === undefined) return {};
  return { "Retry-After": typeof retryAfter === "string" ? retryAfter : String(toSeconds(retryAfter)) };
}

type StatusAndHeaders = Readonly<{ status: number; headers?: Headers | Readonly<Record<string, string>> }>;

/** A response whose body is in memory. It can be recorded and written to a socket without its stream, which costs more time. */
export class WholeResponse extends Response {
  readonly whole: string | Uint8Array<ArrayBuffer>;

  constructor(whole: string | Uint8Array<ArrayBuffer>, init: StatusAndHeaders) {
    super(whole, init);
    this.whole = whole;
  }
}

const brokenConnections = new WeakSet<object>();

const broken = (message: string, code: string, reason: string): TypeError => {
  const error = new TypeError(message, { cause: Object.assign(new Error(reason), { code }) });
  brokenConnections.add(error);
  return error;
};

/** The error that Node's `fetch` throws when the connection is reset before the response arrives. */
export const connectionReset = (): TypeError => broken("fetch failed", "ECONNRESET", "read ECONNRESET");

/** The error that a response body of Node's `fetch` throws when the connection ends before the body does. */
export const bodyTerminated = (): TypeError => broken("terminated", "UND_ERR_SOCKET", "other side closed");

/** Whether an error stands for a broken connection. Over a port, the server then destroys the socket. */
export const isBrokenConnection = (error: unknown): boolean =>
  typeof error === "object" && error !== null && brokenConnections.has(error);

/** The time from the start of a state until it is replaced. */
export class Lifetime {
  readonly #end = abortController();

  /** Aborts with a broken connection when the state is replaced, or its world is removed. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  end(): void {
    this.#end.abort(connectionReset());
  }
}

/** Breaks the connection of a request that arrived before its state was replaced, as a restart of a service does. */
export function assertCurrent({ lifetime }: { readonly lifetime: Lifetime }): void {
  throwIfAborted(lifetime.signal);
}

type RecordPiece = (piece: Uint8Array) => void;

/** Who records the bodies that the service has still to read. */
const recorders = new WeakMap<Request, RecordPiece>();

/** Has the body of a request recorded, piece by piece, while the service reads it. */
export function recordBody(request: Request, record: RecordPiece): void {
  if (request.body !== null) recorders.set(request, record);
}

/** The function to call with each piece of a body that is read. */
export const bodyRecorderOf = (request: Request): RecordPiece | undefined => recorders.get(request);

/** Records the body of a copy instead of the original's. */
export function moveBodyRecorder(original: Request, copy: Request): void {
  const record = recorders.get(original);
  if (record !== undefined) recorders.set(copy, record);
}

/** The path of the controls, the log, the coverage and the page's resources: at the root of the server, or of an isolated world. */
export const controlRoot = "/_emulator";

/** A response that no cache keeps, because the state changes. */
export const uncachedJson = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  Response.json(value, { status, headers: { "Cache-Control": "no-store", ...headers } });

/** The response to a request that is refused, in the form of the service's error object. */
export const refusal = (
  status: number,
  code: string,
  message: string,
  headers?: Readonly<Record<string, string>>,
): Response => uncachedJson({ code, message }, status, headers);

/** What a request has besides its URL, its method and its body. */
interface RequestHead {
  readonly headers: Headers;
  readonly signal?: AbortSignal;
}

/** A `Request` with the method TRACE, which the constructor of `Request` refuses. */
class TraceRequest extends Request {
  override readonly method = "TRACE";
}

/** Makes a request with the method TRACE. */
export const traceRequest = (url: string, { headers, signal }: RequestHead): Request =>
  new TraceRequest(url, { headers, ...(signal && { signal }) });

/** The same request with another URL. */
export const requestAt = (url: string, request: Request): Request =>
  request.method === "TRACE" ? traceRequest(url, request) : new Request(url, request);
