import { fetchFailed } from "../../support/fetch-failed.ts";
import { secretKey } from "./secret.ts";
import { thrownValues } from "./thrown.ts";

const named = (name: string, message: string, fields: object = {}) =>
  Object.assign(new Error(message), { name, ...fields });

function deepCause(): Error {
  let error = new Error("the last cause");
  for (let depth = 0; depth < 300; depth++) error = new Error(`cause ${depth}`, { cause: error });
  return error;
}

/** What `fetch` can throw, by name: system errors, values that are not errors, and errors that contain the secret key. */
const values: Readonly<Record<string, () => unknown>> = {
  reset: () => fetchFailed("ECONNRESET", "read"),
  "no cause": () => new TypeError("fetch failed"),
  refused: () => fetchFailed("ECONNREFUSED", "connect"),
  "not found": () => fetchFailed("ENOTFOUND", "getaddrinfo"),
  ...thrownValues,
  number: () => 7,
  "not a number": () => Number.NaN,
  text: () => `not an error, but ${secretKey}`,
  "function with the key": () => () => secretKey,
  "object with the key": () => ({ key: secretKey, message: secretKey }),
  thenable: () => JSON.parse(`{"then":"x","message":"not an error"}`),
  "code with the key": () => named("Error", "odd", { code: { key: secretKey } }),
  "cause without end": deepCause,
  aggregate: () => new AggregateError([new Error(`first with ${secretKey}`), "second"], "several"),
  "abort of its own": () => new DOMException("This operation was aborted", "AbortError"),
  "timeout of its own": () => new DOMException("The operation timed out", "TimeoutError"),
  "key everywhere": () =>
    named(secretKey, `failed with ${secretKey}`, {
      code: secretKey,
      request: { headers: { key: secretKey } },
      cause: named("Error", secretKey, { hostname: secretKey }),
      [secretKey]: secretKey,
    }),
  "key escaped": () => new Error(`failed with ${encodeURIComponent(secretKey)} and ${JSON.stringify(secretKey)}`),
  "looks like a response": () => ({ status: 200, ok: true, headers: new Headers(), response: { secretKey } }),
  "looks like an error of the SDK": () => named("OutcomeUnknownError", "forged", { isRetryable: true, attempts: 7 }),
};

export const thrownNames: readonly string[] = Object.keys(values);

export function thrownValue(name: string): unknown {
  const make = values[name];
  if (make === undefined) throw new Error(`No thrown value has the name ${name}`);
  return make();
}

/** These say that no connection was made, so that a service cannot have carried the request out. */
const neverSent: ReadonlySet<string | undefined> = new Set(["refused", "not found"]);

export const saysNeverSent = (name: string | undefined): boolean => neverSent.has(name);
