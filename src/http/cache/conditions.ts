import type { HeaderFields } from "../../util/response-head.ts";
import type { Fields } from "./policy.ts";

const tagsOf = (list: string): readonly string[] => list.match(/"[^"]*"/g) ?? [];

/**
 * Whether the caller's copy is the stored version (RFC 9110, 13.1; RFC 9111, 4.3.2). `If-None-Match` takes precedence, and compares weakly.
 *
 * @param given The headers of the request.
 * @param stored The headers of the stored response.
 */
export function hasCurrentCopy(given: Fields, { etag, "last-modified": modified, date }: Fields): boolean {
  const { "if-none-match": tags, "if-modified-since": since } = given;
  if (tags !== undefined) {
    return tags.trim() === "*" || (etag !== undefined && tagsOf(tags).some((tag) => tagsOf(etag).includes(tag)));
  }
  return since !== undefined && Date.parse(modified ?? date ?? "") <= Date.parse(since);
}

/** The headers of a request without its conditions. */
export const unconditional = (headers: Fields): Fields =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^if-(none-match|modified-since)$/.test(name)));

/** Whether the cache understands a request: it knows no parts of a file, and no conditions of changes. */
export const isPlain = (headers: Fields): boolean =>
  !["range", "if-range", "if-match", "if-unmodified-since"].some((name) => name in headers);

const isImmutable = (control: string | null | undefined): boolean => /(^|,)\s*immutable\s*(,|$)/i.test(control ?? "");

/**
 * Whether a response has the bytes of the stored one: by its strong `ETag`, or without one because both are `immutable` and equally long,
 * as the files of renders are (specification 4.6).
 */
export function isSameVersion(stored: Fields, fresh: HeaderFields): boolean {
  const { etag = null } = stored;
  if (etag !== fresh.get("etag")) return false;
  if (etag !== null) return !etag.startsWith("W/");
  if (stored["content-length"] !== fresh.get("content-length")) return false;
  return isImmutable(stored["cache-control"]) && isImmutable(fresh.get("cache-control"));
}
