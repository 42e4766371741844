import * as z from "zod/mini";
import { isDate } from "../../util/kinds.ts";

/** A point in time: a date, an ISO 8601 string, or milliseconds since 1970. */
export type PointInTime = Date | string | number;

/** The year 0 and the end of the year 9999: other times have no date in the form of the service. */
export const earliestTime = Date.parse("0000-01-01T00:00:00.000Z");
export const latestTime = Date.parse("9999-12-31T23:59:59.999Z");

/** Returns the milliseconds since 1970. Throws a `RangeError` for an invalid time. */
export function toMilliseconds(time: PointInTime): number {
  const ms = isDate(time) ? time.getTime() : new Date(time).getTime();
  if (Number.isNaN(ms))
    throw new RangeError(`The time must be a date, an ISO 8601 string or milliseconds since 1970; got ${String(time)}`);
  return ms;
}

/** A span of time. The parts are added. */
export interface Duration {
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
}

/** Returns the milliseconds of a span. A number is milliseconds. */
export function spanOf(span: number | Duration): number {
  if (typeof span === "number") return span;
  const { days = 0, hours = 0, minutes = 0, seconds = 0 } = span;
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
}

const part = () => z.optional(z.number().check(z.gte(0)));

/** A span of time: milliseconds, or an object such as `{ days: 3 }`. */
export const span = () =>
  z.union(
    [z.number().check(z.gte(0)), z.strictObject({ days: part(), hours: part(), minutes: part(), seconds: part() })],
    'expected milliseconds, or an object such as {"days":3}',
  ) as z.ZodMiniType<number | Duration>;
