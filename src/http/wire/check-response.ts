import { chunksOf } from "../../binary/streams.ts";
import { attempt, propertyOf, wordsOf } from "../../util/foreign.ts";

const isFunction = (value: unknown): boolean => typeof value === "function";

/** Whether the headers can be read like those of the platform's `Response`. */
function areHeaders(headers: unknown): boolean {
  if (headers instanceof Headers) return true;
  const copied = attempt(() => new Headers([...(headers as Iterable<[string, string]>)]));
  return copied !== undefined && isFunction(propertyOf(headers, "get")) && isFunction(propertyOf(headers, "has"));
}

/** Whether a value has the parts of a response's head that the SDK reads. */
function isResponse(given: unknown): given is Response {
  const status = propertyOf(given, "status");
  if (typeof status !== "number" || !Number.isInteger(status) || status < 100 || status > 999) return false;
  return propertyOf(given, "ok") === (status >= 200 && status <= 299) && areHeaders(propertyOf(given, "headers"));
}

/**
 * Returns what `fetch` returned if it is a response, and throws otherwise: a caller's own `fetch` can return anything, and
 * `Response.error()` stands for a connection that failed.
 */
export function checkedResponse(given: unknown): Response {
  const type = propertyOf(given, "type");
  if (type === "error") throw new TypeError("`fetch` returned an error response");
  if (type === "opaqueredirect") throw new TypeError("unexpected redirect");
  if (attempt(() => isResponse(given))) return given as Response;
  // An open body would keep its socket open.
  attempt(() => chunksOf(propertyOf(given, "body"))?.close());
  throw new TypeError(`\`fetch\` returned ${wordsOf(given)}, which is not a Response`);
}
