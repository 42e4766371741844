const zone = "Europe/Amsterdam";
const day = 86_400_000;

const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

let format: Intl.DateTimeFormat | undefined;

const partsAt = (at: number): Readonly<Record<string, string>> => {
  format ??= new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    weekday: "short",
    timeZoneName: "longOffset",
  });
  return Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
};

/** The offset of Amsterdam from UTC, for example `+01:00`. */
const offsetAt = (at: number): string => partsAt(at).timeZoneName?.replace("GMT", "") || "+00:00";

const toMilliseconds = (offset: string): number => {
  const [hours = 0, minutes = 0] = offset.split(":").map(Number);
  return (hours * 60 + minutes) * 60_000;
};

/** The date in Amsterdam, as a number of days since 1970. */
export function calendarDay(at: number): number {
  const parts = partsAt(at);
  return Date.UTC(Number(parts.year), Number(parts.month) - 1, Number(parts.day)) / day;
}

/** Formats a number of days since 1970, for example `2026-11-02`. */
export const toDate = (calendar: number): string => new Date(calendar * day).toISOString().slice(0, 10);

/** The next Monday, 00:00 in Amsterdam. Rendertokens reset then (specification 8). */
export function nextMonday(now: number): { readonly at: number; readonly iso: string } {
  const weekday = weekdays.indexOf(partsAt(now).weekday ?? "Mon");
  const monday = calendarDay(now) + 7 - weekday;
  // The clocks change in the night to Sunday, so an offset near Monday's midnight is the offset of Monday.
  const offset = offsetAt(monday * day);
  return { at: monday * day - toMilliseconds(offset), iso: `${toDate(monday)}T00:00:00${offset}` };
}
