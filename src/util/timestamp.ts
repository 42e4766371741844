/** The largest negative UTC offset of a time zone, as milliseconds: 12 hours. */
const farthest = 12 * 3_600_000;

/** A date with an optional time and offset, in the extended or basic format of ISO 8601. */
const timestamp =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2})(?::?(\d{2})(?::?(\d{2}(?:[.,]\d+)?))?)?)?(?:(Z)|([+-])(\d{2}):?(\d{2})?)?$/i;

/** Whether a text is an ISO 8601 timestamp that includes the day. */
export const isTimestamp = (text: string): boolean => timestamp.test(text);

const minutesOf = (hours = "", minutes = ""): number => Number(hours) * 60 + Number(minutes);

/**
 * The latest time that an ISO 8601 timestamp can mean, in milliseconds since 1970; infinite for an unknown format.
 *
 * A timestamp without an offset is in the service's time zone, which is unknown. `Date.parse` would assume this machine's time zone.
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
