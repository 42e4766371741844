import * as z from "zod/mini";
import { count } from "../../schemas/shape.ts";

/** The bounds of the log, with their defaults. */
export const logBounds = () =>
  z.strictObject({
    entries: z._default(count(1).check(z.lte(10_000)), 5000),
    bytes: z._default(count(1), 64 * 2 ** 20),
  });
