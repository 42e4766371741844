import * as z from "zod/mini";
import type { Duration } from "./point-in-time.ts";

const part = () => z.optional(z.number().check(z.gte(0)));

/** A span of time: milliseconds, or an object such as `{ days: 3 }`. */
export const span = () =>
  z.union(
    [z.number().check(z.gte(0)), z.strictObject({ days: part(), hours: part(), minutes: part(), seconds: part() })],
    'expected milliseconds, or an object such as {"days":3}',
  ) as z.ZodMiniType<number | Duration>;
