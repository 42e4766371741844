import * as z from "zod/mini";
import { $ZodObjectJIT } from "zod/v4/core";
import { earliestTime, latestTime } from "../clock/point-in-time.ts";

const text = () => z.optional(z.string());

/** The texts of an address besides its country (specification 2.3). The emulator's own files may lack any of them. */
export const addressTexts = () => ({
  company: text(),
  firstname: text(),
  lastname: text(),
  streetname: text(),
  housenumber: text(),
  housenumberAddition: text(),
  additionalInfo: text(),
  state: text(),
  zipcode: text(),
  city: text(),
  phonenumber: text(),
  email: text(),
});

type RecordShape<T> = { readonly [Field in keyof T]-?: z.core.$ZodType<T[Field]> };

/** A record with exactly these fields. The schema of zod's core is several times as fast as that of zod/mini: a world can have 100,000 orders. */
export function record<T>(shape: RecordShape<T>): z.core.$ZodType<T>;
export function record(shape: z.core.$ZodLooseShape): z.core.$ZodType {
  return new $ZodObjectJIT({ type: "object", shape, catchall: z.never() });
}

/** Any number of entries. Zod's own type is a mutable array. */
export const list = <Entry>(entry: z.core.$ZodType<Entry>) => z.array(entry) as z.core.$ZodType<readonly Entry[]>;
/** At least one entry. */
export const filledList = <Entry>(entry: z.core.$ZodType<Entry>) =>
  z.array(entry).check(z.minLength(1)) as z.core.$ZodType<readonly Entry[]>;

export const nullable = <Value>(value: z.core.$ZodType<Value>) => z.nullable(value) as z.core.$ZodType<Value | null>;

/** A time that the service can show as a timestamp. */
export const time = () => z.number().check(z.gte(earliestTime), z.lte(latestTime));

/** A time at which something happens. It can be later than any time of the clock: then it never happens. */
export const dueTime = () => z.number().check(z.gte(earliestTime));
