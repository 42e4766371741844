import * as z from "zod/mini";
import { type Issue, RequestValidationError } from "../errors/validation.ts";
import { check } from "../schemas/check.ts";
import type { RequestOptions } from "./request-options.ts";

const positive = () => z.optional(z.number().check(z.positive()));
const notNegative = () => z.optional(z.number().check(z.nonnegative()));

/** A header that no request can carry is told here; the platform would tell it as if the connection had failed. */
function carriable(name: string, value: unknown): boolean {
  try {
    new Headers([[name, String(value)]]);
    return typeof value === "string";
  } catch {
    return false;
  }
}

const schema = () =>
  z.object({
    timeout: positive(),
    deadline: positive(),
    priority: z.optional(z.enum(["high", "normal", "low"])),
    retry: z.optional(
      z.strictObject({
        retries: z.optional(z.int().check(z.nonnegative())),
        minDelay: notNegative(),
        maxDelay: notNegative(),
        maxRetryAfter: notNegative(),
      }),
    ),
    headers: z.optional(
      z.record(z.string(), z.unknown()).check(
        z.superRefine((headers, context) => {
          for (const [name, value] of Object.entries(headers)) {
            if (!carriable(name, value))
              context.addIssue({ code: "custom", path: [name], message: "is no header that a request can carry" });
          }
        }),
      ),
    ),
  });

/** What is wrong with a call's own options. */
export function optionFaults(options: RequestOptions): readonly Issue[] {
  const checked = check(schema, options, []);
  return checked.ok ? [] : checked.issues;
}

/** Throws when that many calls cannot be under way at a time: with none, nothing would ever be done. */
export function assertConcurrency(concurrency: number): void {
  if (concurrency >= 1) return;
  throw new RequestValidationError({ issues: [{ path: ["concurrency"], message: "expected a number from 1" }] });
}
