import { attempt } from "./foreign.ts";

/** The largest negative UTC offset of a time zone: 12 hours, in milliseconds. */
const farthest = 12 * 3_600_000;

/** A date with an optional time and offset, in the extended or basic format of ISO 8601. */
const timestamp =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2})(?::?(\d{2})(?::?(\d{2}(?:[.,]\d+)?))?)?)?(?:(Z)|([+-])(\d{2}):?(\d{2})?)?$/i;

/** Whether a text is an ISO 8601 timestamp that includes the day. */
export const isTimestamp = (text: string): boolean => timestamp.test(text);

/** Whether the day and the time of an ISO 8601 timestamp exist: no 30 February, no 25 o'clock. */
export function isExistingTime(text: string): boolean {
  const [, year, month, day, hour = "0", minute = "0", second = "0", , , offsetHours = "0", offsetMinutes = "0"] =
    timestamp.exec(text) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const seconds = Number(second.replace(",", "."));
  const endOfDay = Number(hour) === 24 && Number(minute) === 0 && seconds === 0;
  return (
    date.getUTCMonth() === Number(month) - 1 &&
    date.getUTCDate() === Number(day) &&
    (Number(hour) < 24 || endOfDay) &&
    Number(minute) < 60 &&
    seconds < 61 &&
    Number(offsetHours) < 24 &&
    Number(offsetMinutes) < 60
  );
}

const minutesOf = (hours = "", minutes = ""): number => Number(hours) * 60 + Number(minutes);

/** A time in milliseconds since 1970 as an ISO 8601 timestamp; undefined if it is out of range. */
export const isoTime = (time: number): string | undefined => attempt(() => new Date(time).toISOString());

/**
 * The latest time that an ISO 8601 timestamp can mean, in milliseconds since 1970; infinite for an unknown format.
 *
 * A timestamp without an offset is in the service's time zone, which is unknown. `Date.parse` would assume this machine's time zone.
 *
 * @param west The milliseconds that this zone is behind UTC. Default: the largest of all zones.
 */
export function latestTime(text: string, west = farthest): number {
  const match = timestamp.exec(text);
  if (match === null) return Number.POSITIVE_INFINITY;
  const [, year, month, day, hour = "23", minute = "59", second = "60", utc, sign, offsetHours, offsetMinutes] = match;
  const seconds = minutesOf(hour, minute) * 60 + Number(second.replace(",", "."));
  const local = Date.UTC(Number(year), Number(month) - 1, Number(day)) + seconds * 1000;
  if (utc !== undefined) return local;
  if (sign === undefined) return local + west;
  const offset = minutesOf(offsetHours, offsetMinutes) * 60_000;
  return sign === "-" ? local + offset : local - offset;
}
