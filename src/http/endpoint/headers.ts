import type { Issue } from "../../errors/validation.ts";
import { mostIssues } from "../../errors/validation.ts";
import { isFunction, isObject } from "../../schemas/type-guards.ts";
import type { HeadersInput } from "./request-options.ts";

/** Headers that belong to the connection: `fetch` refuses them as if the connection had failed, or breaks the connection. */
const ofConnection = new Set(["connection", "content-length", "expect", "keep-alive", "transfer-encoding", "upgrade"]);

/** Whether a request can carry a header. The platform would report an invalid one as a failed connection. */
export function isValidHeader(name: unknown, value: unknown): boolean {
  if (typeof name !== "string" || typeof value !== "string" || ofConnection.has(name.toLowerCase())) return false;
  try {
    new Headers([[name, value]]);
    return true;
  } catch {
    return false;
  }
}

const isIterable = (value: object): value is Iterable<unknown> => Symbol.iterator in value;

/** The faults of headers, in any of their forms. */
export function headerFaults(headers: unknown): readonly Issue[] {
  // An iterator would give its headers only once: to this check.
  if (!isObject(headers) || ("next" in headers && isFunction(headers.next)))
    return [{ path: [], message: "expected an object with names and values, `Headers`, a `Map` or a list of pairs" }];
  const issues: Issue[] = [];
  const entries: Iterable<unknown> = isIterable(headers) ? headers : Object.entries(headers);
  let index = 0;
  for (const entry of entries) {
    const [name, value] = Array.isArray(entry) && entry.length === 2 ? entry : [];
    if (!isValidHeader(name, value)) {
      issues.push({
        path: [typeof name === "string" ? name : index],
        message: "is not a header that a request can carry: remove it, or correct its name or value",
      });
    }
    if (issues.length > mostIssues) break;
    index += 1;
  }
  return issues;
}

/** Names and values of headers. Pairs with the same name become one header with all values. */
export const headerEntries = (headers: HeadersInput): readonly (readonly [name: string, value: string])[] =>
  isIterable(headers) ? [...new Headers([...headers].map(([name, value]) => [name, value]))] : Object.entries(headers);
