import * as z from "zod/mini";
import { type Issue, RequestValidationError } from "../../errors/validation.ts";
import { check, type UnknownKey } from "../../schemas/check.ts";
import { array, type Schema } from "../../schemas/shape.ts";
import { isFunction, isObject, isRecord } from "../../schemas/type-guards.ts";
import { wordsOf } from "../../util/foreign.ts";
import { headerFaults, isValidHeader } from "./headers.ts";
import type { RequestOptions } from "./request-options.ts";

const positive = () => z.optional(z.number().check(z.positive()));
const notNegative = () => z.optional(z.number().check(z.nonnegative()));
/** An optional value that a function checks. */
export const custom = (holds: (value: unknown) => boolean, error: string) => z.optional(z.custom(holds, { error }));

/** Whether a value can be used as a signal. It may come from another realm or from a polyfill. */
const isSignal = (value: unknown): boolean => isObject(value) && "aborted" in value && "addEventListener" in value;

/** Whether a value is an object with fields for JSON, and not a form, a map, bytes or a list. */
const isFields = (value: unknown): boolean =>
  isObject(value) && !(Symbol.iterator in value) && !(value instanceof Blob) && !(value instanceof ArrayBuffer);

const queryValue = () => z.union([z.string(), z.number(), z.boolean()]);

/** The options that every call takes, in its last argument. */
const request = () =>
  ({
    signal: custom(isSignal, "expected an AbortSignal, such as the `signal` of an AbortController"),
    timeout: positive(),
    deadline: positive(),
    priority: z.optional(z.enum(["high", "normal", "low"])),
    retry: z.optional(
      z.strictObject({
        retries: z.optional(z.int().check(z.nonnegative())),
        baseDelay: notNegative(),
        maxDelay: notNegative(),
        maxRetryAfter: notNegative(),
      }),
    ),
    headers: z.optional(
      z.unknown().check(
        z.superRefine((headers, context) => {
          for (const { path, message } of headerFaults(headers)) {
            context.addIssue({ code: "custom", path: [...path], message });
          }
        }),
      ),
    ),
    query: z.optional(
      z.record(
        z.string(),
        z.optional(
          z.union([queryValue(), array(queryValue())], {
            error: "expected a string, a number, a boolean or a list of these",
          }),
        ),
      ),
    ),
    // The SDK does not know the content. It may be an instance of a caller's class.
    body: custom(isFields, "expected an object: the fields to add to the JSON body"),
  }) satisfies Record<keyof RequestOptions, z.core.$ZodType>;

/** A strict schema: otherwise a misspelt option would have no effect. */
export const taking =
  (more: () => z.core.$ZodLooseShape): Schema =>
  () =>
    z.strictObject({ ...request(), ...more() });

/** A value of an earlier download that a header can carry. */
const validator = (header: string, what: string) =>
  custom((value) => value !== "" && isValidHeader(header, value), `expected the \`${what}\` of an earlier download`);

/** The options of a wait for a render. */
export const waiting = () => ({
  interval: z.optional(z.number().check(z.positive({ error: "expected a number of milliseconds above 0" }))),
  onPending: custom(isFunction, "expected a function"),
});

/** The options of an order that is ensured. */
export const ensuring = () => ({
  lookFor: z.optional(z.number().check(z.nonnegative({ error: "expected a number of milliseconds from 0" }))),
  compare: custom(
    (value) => value === "all" || value === "lines" || value === false,
    'expected "all", "lines" or false',
  ),
});

const kinds = {
  request: taking(() => ({})),
  // Infinity would prefetch without end.
  list: taking(() => ({
    prefetch: z.optional(z.number().check(z.nonnegative({ error: "expected a number from 0" }))),
  })),
  all: () =>
    z.strictObject({
      limit: custom((value) => typeof value === "number" && !Number.isNaN(value), "expected a number"),
    }),
  conditional: () =>
    z.strictObject({
      etag: validator("if-none-match", "etag"),
      lastModified: validator("if-modified-since", "lastModified"),
    }),
  wait: taking(waiting),
  upload: () =>
    z.strictObject({
      onProgress: custom(isFunction, "expected a function"),
      onDownsize: custom(isFunction, "expected a function"),
    }),
  ensure: () => z.strictObject(ensuring()),
} satisfies Record<string, Schema>;

/** A set of options: those of a request, with the additional ones of some calls. */
export type OptionKind = keyof typeof kinds;

const unknownOption: UnknownKey = {
  message: "is an unknown option",
  aliases: new Map([
    ["limit", "toArray({ limit })"],
    ["maxRetries", "retry.retries"],
    ["retries", "retry.retries"],
    ["abortSignal", "signal"],
  ]),
};

/** Returns the faults of a call's options. `kind` is a schema where its code loads with the call. */
export function optionFaults(options: unknown, kind: OptionKind | Schema = "request"): readonly Issue[] {
  const path = ["options"];
  try {
    if (!isRecord(options)) return [{ path, message: "expected an object" }];
    if (isSignal(options)) return [{ path, message: "expected an object, not a signal: write `{ signal }`" }];
  } catch (error) {
    return [{ path, message: `cannot be checked: ${wordsOf(error)}` }];
  }
  const checked = check(typeof kind === "function" ? kind : kinds[kind], options, [], unknownOption);
  return checked.ok ? [] : checked.issues.map((issue) => (issue.path.length === 0 ? { ...issue, path } : issue));
}

/** Throws if the options are invalid, for a call that uses them before it sends a request. */
export function assertOptions(kind: OptionKind | Schema, options: unknown, endpoint?: string): void {
  const issues = optionFaults(options, kind);
  if (issues.length > 0) throw new RequestValidationError({ issues, ...(endpoint !== undefined && { endpoint }) });
}
