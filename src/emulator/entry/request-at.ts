/** What a request has besides its URL, its method and its body. */
interface Init {
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

/** A `Request` with the method TRACE, which the constructor of `Request` refuses. */
class TraceRequest extends Request {
  override readonly method = "TRACE";
}

/** Makes a request with the method TRACE. */
export const traceRequest = (url: string, { headers, signal }: Init): Request =>
  new TraceRequest(url, { headers, signal });

/** The same request with another URL. */
export const requestAt = (url: string, request: Request): Request =>
  request.method === "TRACE" ? traceRequest(url, request) : new Request(url, request);
