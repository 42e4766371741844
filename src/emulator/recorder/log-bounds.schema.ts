import * as z from "zod/mini";
import { count } from "../../schemas/shape.ts";
import type { LogBounds } from "./request-log.ts";

export const defaultBounds: LogBounds = { entries: 5000, bytes: 64 * 2 ** 20 };

/** The bounds of the log, with their defaults. */
export const logBounds = () =>
  z.strictObject({
    entries: z._default(count(1).check(z.lte(10_000)), defaultBounds.entries),
    bytes: z._default(count(1), defaultBounds.bytes),
  });
