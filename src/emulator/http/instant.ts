/** A date with an optional time and offset, in the extended or basic format of ISO 8601. */
const timestamp =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)?(?:(Z)|([+-]\d{2}):?(\d{2})?)?)?$/;

/**
 * The time of an ISO 8601 timestamp, in milliseconds since 1970; undefined for another text. The specification does not show which of
 * the forms the service takes. Assumed: a missing time is 00:00, and a missing offset UTC.
 */
export function instantOf(text: string): number | undefined {
  const match = timestamp.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "0", , offset, offsetMinute = "00"] =
    match;
  const date = `${year}-${month}-${day}`;
  const zone = offset === undefined ? "Z" : `${offset}:${offsetMinute}`;
  const time = Date.parse(`${date}T${hour}:${minute}:${second}.${fraction.slice(0, 3)}${zone}`);
  // The platform takes the 31st of a month of 30 days for the 1st of the next one.
  const isDay = new Date(`${date}T00:00:00Z`).getUTCDate() === Number(day);
  return isDay && !Number.isNaN(time) ? time : undefined;
}
