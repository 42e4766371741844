import * as z from "zod";
import type { Issue } from "../errors/validation.ts";
import { check } from "../schemas/check.ts";
import type { RequestOptions } from "./request-options.ts";

const positive = z.number().positive().optional();
const notNegative = z.number().min(0).optional();

/** A header that no request can carry is told here; the platform would tell it as if the connection had failed. */
function carriable(name: string, value: unknown): boolean {
  try {
    new Headers([[name, String(value)]]);
    return typeof value === "string";
  } catch {
    return false;
  }
}

const schema = z.looseObject({
  timeout: positive,
  deadline: positive,
  priority: z.enum(["high", "normal", "low"]).optional(),
  retry: z
    .strictObject({
      retries: z.int().min(0).optional(),
      minDelay: notNegative,
      maxDelay: notNegative,
      maxRetryAfter: notNegative,
    })
    .optional(),
  headers: z
    .record(z.string(), z.unknown())
    .superRefine((headers, context) => {
      for (const [name, value] of Object.entries(headers)) {
        if (!carriable(name, value))
          context.addIssue({ code: "custom", path: [name], message: "is no header that a request can carry" });
      }
    })
    .optional(),
});

/** What is wrong with a call's own options. */
export function optionFaults(options: RequestOptions): readonly Issue[] {
  const checked = check(schema, options, []);
  return checked.ok ? [] : checked.issues;
}
