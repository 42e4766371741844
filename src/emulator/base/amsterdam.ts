const zone = "Europe/Amsterdam";
const minute = 60_000;
const day = 86_400_000;

let format: Intl.DateTimeFormat | undefined;

/**
 * How far Amsterdam is ahead of UTC, in milliseconds. Until 1937 it was no whole number of minutes, which a timestamp cannot say: it is
 * rounded.
 */
function offsetAt(at: number): number {
  format ??= new Intl.DateTimeFormat("en-GB", { timeZone: zone, timeZoneName: "longOffset" });
  const name = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [hours = 0, minutes = 0, seconds = 0] = name.replace("GMT", "").split(":").map(Number);
  return Math.round((hours * 3600 + minutes * 60 + seconds) / 60) * minute;
}

/** Formats an offset, for example `+01:00`. Amsterdam was never behind UTC. */
const toOffset = (offset: number): string => `+${new Date(offset).toISOString().slice(11, 16)}`;

/** The date in Amsterdam, as a number of days since 1970. */
export const calendarDay = (at: number): number => Math.floor((at + offsetAt(at)) / day);

/** The last day that has a date in the form of the service. */
const lastDay = Date.parse("9999-12-31") / day;

/** Formats a number of days since 1970, for example `2026-11-02`. */
export const toDate = (calendar: number): string =>
  new Date(Math.min(calendar, lastDay) * day).toISOString().slice(0, 10);

/** Returns the days that have passed since Monday: 1970-01-01 was a Thursday. */
const sinceMonday = (calendar: number): number => (((calendar + 3) % 7) + 7) % 7;

/** The next Monday, 00:00 in Amsterdam. Rendertokens reset then (specification 8). */
export function nextMonday(now: number): { readonly at: number; readonly iso: string } {
  const today = calendarDay(now);
  const monday = today + 7 - sinceMonday(today);
  // The clocks change in the night to Sunday, so an offset near Monday's midnight is the offset of Monday.
  const offset = offsetAt(monday * day);
  const at = monday * day - offset;
  // The year 10000 has no timestamp in the form of the service: the latest one stands for it.
  const iso = monday > lastDay ? `${toDate(lastDay)}T23:59:59+00:00` : `${toDate(monday)}T00:00:00${toOffset(offset)}`;
  return { at, iso };
}
