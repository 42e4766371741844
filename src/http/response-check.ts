import { attempt, propertyOf, wordsOf } from "../util/foreign.ts";

const isFunction = (value: unknown): boolean => typeof value === "function";

/** Whether the headers of an answer that is not the platform's own can be read like those of one that is. */
function areHeaders(headers: unknown): boolean {
  if (headers instanceof Headers) return true;
  const copied = attempt(() => new Headers([...(headers as Iterable<[string, string]>)]));
  return copied !== undefined && isFunction(propertyOf(headers, "get")) && isFunction(propertyOf(headers, "has"));
}

/** Whether something has what the SDK reads of an answer's head. */
function isResponse(given: unknown): given is Response {
  const status = propertyOf(given, "status");
  if (typeof status !== "number" || !Number.isInteger(status) || status < 100 || status > 999) return false;
  return propertyOf(given, "ok") === (status >= 200 && status <= 299) && areHeaders(propertyOf(given, "headers"));
}

/**
 * What a `fetch` gave, when it is an answer. What is none counts as a failure of the `fetch`, and is thrown as one: a partner's own may
 * give anything, and the standard's own `Response.error()` tells of a connection that failed.
 */
export function checkedResponse(given: unknown): Response {
  const type = propertyOf(given, "type");
  if (type === "error") throw new TypeError("the `fetch` gave an error response");
  if (type === "opaqueredirect") throw new TypeError("unexpected redirect");
  if (attempt(() => isResponse(given))) return given as Response;
  throw new TypeError(`the \`fetch\` gave no Response, but ${wordsOf(given)}`);
}
