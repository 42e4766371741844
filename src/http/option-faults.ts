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

/** A signal may be of another realm, or a polyfill: it is one that can be listened to. */
const isSignal = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value;

const schema = () =>
  z.object({
    signal: z.optional(
      z.custom(isSignal, { error: "expected an AbortSignal, such as the `signal` of an AbortController" }),
    ),
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

function assertOption(name: string, holds: boolean, message: string): void {
  if (!holds) throw new RequestValidationError({ issues: [{ path: [name], message }] });
}

/** Throws when that many calls cannot be under way at a time: with none, nothing would ever be done. */
export const assertConcurrency = (concurrency: number): void =>
  assertOption("concurrency", concurrency >= 1, "expected a number from 1");

/** Throws when that many pages cannot be asked for ahead: to ask for endless many would never end. */
export const assertPrefetch = (prefetch: number): void =>
  assertOption("prefetch", prefetch >= 0 && Number.isFinite(prefetch), "expected a number from 0");

/** Throws when there would be no time between two looks: they would take every token there is. */
export const assertInterval = (interval: number): void =>
  assertOption("interval", interval > 0 && Number.isFinite(interval), "expected a number of milliseconds above 0");
