import * as z from "zod/mini";

/** A hundred years: earlier times help no test, and some have no date in the form of the service. */
const most = 36_525;

/** The days since something happened. */
export const daysAgo = () => z.optional(z.number().check(z.gte(0), z.lte(most)));
