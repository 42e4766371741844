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
