import type { HeaderFields } from "../../util/response-head.ts";

/** Parses an HTTP date in any of its three forms (RFC 9110, 5.6.7). The oldest form ends with the year, without a time zone; it is in UTC. */
const parseDate = (text: string): number => Date.parse(/ \d{4}$/.test(text) ? `${text} GMT` : text);

/**
 * The wait in milliseconds that a `Retry-After` asks for, as seconds or as an HTTP date; undefined when it is absent or invalid.
 *
 * A date counts from the response's own `Date`, so that the client's clock does not matter.
 */
export function parseRetryAfter(headers: HeaderFields, now: number): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined || value === "") return undefined;
  // A repeated header is one value with commas: the longest wait applies.
  const seconds = value.split(",").map((part) => part.trim());
  if (seconds.every((part) => /^\d+(\.\d+)?$/.test(part))) {
    const ms = Math.max(...seconds.map(Number)) * 1000;
    return Number.isFinite(ms) ? ms : undefined;
  }
  // `Date.parse` accepts almost any text; an HTTP date begins with the name of a day.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value)) return undefined;
  const until = parseDate(value);
  const since = parseDate(headers.get("date") ?? "");
  return Number.isNaN(until) ? undefined : Math.max(0, until - (Number.isNaN(since) ? now : since));
}
