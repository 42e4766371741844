import * as z from "zod/mini";
import type { Policy } from "../../http/endpoint.ts";
import { count } from "../../schemas/shape.ts";
import { defaultLimits } from "./rate-limit.ts";

const limit = (policy: Policy) =>
  z._default(
    z.strictObject({
      quota: count(1),
      window: z.number().check(z.gte(1000, "is in milliseconds, at least 1000")),
      q: z.optional(z.never("is now called `quota`")),
      w: z.optional(z.never("is now called `window`, in milliseconds")),
    }),
    defaultLimits[policy],
  );

/** The limits of an organization. A missing one is that of the specification. */
export const limits = () =>
  z.strictObject({ default: limit("default"), uploads: limit("uploads"), downloads: limit("downloads") });
