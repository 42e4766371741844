/** Half a day: the farthest zone from UTC whose clocks are behind it. */
const farthest = 12 * 3_600_000;

/** A date, to which a time in any precision and an offset may be added: in the extended or the basic format of ISO 8601. */
const timestamp =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2})(?::?(\d{2})(?::?(\d{2}(?:[.,]\d+)?))?)?)?(?:(Z)|([+-])(\d{2}):?(\d{2})?)?$/i;

/** Whether a text is an ISO 8601 timestamp that names a day. */
export const isTimestamp = (text: string): boolean => timestamp.test(text);

const minutesOf = (hours = "", minutes = ""): number => Number(hours) * 60 + Number(minutes);

/**
 * The latest moment that an ISO 8601 timestamp can mean, in milliseconds since 1970; infinite for one that is not understood.
 *
 * One without an offset is of the service's own zone, whichever that is: `Date.parse` would take it for this machine's.
 */
export function latestTime(text: string): number {
  const match = timestamp.exec(text);
  if (match === null) return Number.POSITIVE_INFINITY;
  const [, year, month, day, hour = "23", minute = "59", second = "60", utc, sign, offsetHours, offsetMinutes] = match;
  const seconds = minutesOf(hour, minute) * 60 + Number(second.replace(",", "."));
  const local = Date.UTC(Number(year), Number(month) - 1, Number(day)) + seconds * 1000;
  if (utc !== undefined) return local;
  if (sign === undefined) return local + farthest;
  const offset = minutesOf(offsetHours, offsetMinutes) * 60_000;
  return sign === "-" ? local + offset : local - offset;
}
