/** An HTTP date in any of its three forms (RFC 9110, 5.6.7): the oldest ends with the year, and does not say that it is of UTC. */
const parseDate = (text: string): number => Date.parse(/ \d{4}$/.test(text) ? `${text} GMT` : text);

/**
 * The milliseconds that a `Retry-After` asks to wait, as seconds or as an HTTP date; undefined when it is absent or garbage.
 *
 * A date counts from the answer's own `Date`, so that a wrong clock on this side does not matter.
 */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined || value === "") return undefined;
  // A header that came twice is one value with a comma: the longer wait holds.
  const seconds = value.split(",").map((part) => part.trim());
  if (seconds.every((part) => /^\d+(\.\d+)?$/.test(part))) {
    const ms = Math.max(...seconds.map(Number)) * 1000;
    return Number.isFinite(ms) ? ms : undefined;
  }
  // `Date.parse` takes nearly anything for a date; an HTTP date begins with the name of a day.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value)) return undefined;
  const until = parseDate(value);
  const since = parseDate(headers.get("date") ?? "");
  return Number.isNaN(until) ? undefined : Math.max(0, until - (Number.isNaN(since) ? now : since));
}
