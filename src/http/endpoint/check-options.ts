import * as z from "zod/mini";
import { type Issue, RequestValidationError } from "../../errors/validation.ts";
import { check, type UnknownKey } from "../../schemas/check.ts";
import type { Schema } from "../../schemas/shape.ts";
import { isFunction, isObject, isRecord } from "../../schemas/type-guards.ts";

const positive = () => z.optional(z.number().check(z.positive()));
const notNegative = () => z.optional(z.number().check(z.nonnegative()));
const custom = (holds: (value: unknown) => boolean, error: string) => z.optional(z.custom(holds, { error }));

/** Headers that are the connection's own: a `fetch` refuses them as if the connection had failed, or breaks it. */
const ofConnection = new Set(["connection", "content-length", "expect", "keep-alive", "transfer-encoding", "upgrade"]);

/** A header that no request can carry is told here; the platform would tell it as if the connection had failed. */
function carriable(name: string, value: unknown): boolean {
  try {
    new Headers([[name, String(value)]]);
    return typeof value === "string" && !ofConnection.has(name.toLowerCase());
  } catch {
    return false;
  }
}

/** A signal may be of another realm, or a polyfill: it is one that can be listened to. */
const isSignal = (value: unknown): boolean => isObject(value) && "aborted" in value && "addEventListener" in value;

/** An object whose fields can stand in JSON: no form, map, bytes or list. */
const isFields = (value: unknown): boolean =>
  isObject(value) && !(Symbol.iterator in value) && !(value instanceof Blob) && !(value instanceof ArrayBuffer);

const queryValue = () => z.union([z.string(), z.number(), z.boolean()]);

/** What every call takes, in its last argument. */
const request = () => ({
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
    z.record(z.string(), z.unknown()).check(
      z.superRefine((headers, context) => {
        for (const [name, value] of Object.entries(headers)) {
          if (!carriable(name, value))
            context.addIssue({ code: "custom", path: [name], message: "is no header that a request can carry" });
        }
      }),
    ),
  ),
  query: z.optional(
    z.record(
      z.string(),
      z.optional(
        z.union([queryValue(), z.array(queryValue())], {
          error: "expected a text, a number, a boolean or a list of these",
        }),
      ),
    ),
  ),
  // What is in it the service knows, and the SDK does not. It may be an instance of a class of the caller's.
  body: custom(isFields, "expected an object: the fields to add to the JSON body"),
});

/** A strict schema: an option that is misspelt would otherwise be one that does nothing. */
const taking =
  (more: () => z.core.$ZodLooseShape): Schema =>
  () =>
    z.strictObject({ ...request(), ...more() });

/** What a download told of itself, as a header can carry it. */
const told = (header: string, what: string) =>
  custom((value) => value !== "" && carriable(header, value), `expected the \`${what}\` of an earlier download`);

const waiting = () => ({
  interval: z.optional(z.number().check(z.positive({ error: "expected a number of milliseconds above 0" }))),
  onPending: custom(isFunction, "expected a function"),
});

const ensuring = () => ({
  lookFor: z.optional(z.number().check(z.nonnegative({ error: "expected a number of milliseconds from 0" }))),
  compare: z.optional(z.boolean()),
});

const manyRows = () => ({
  map: custom(isFunction, "expected a function that makes an input of a row"),
  // With none under way at a time nothing would ever be done.
  concurrency: custom((value) => typeof value === "number" && value >= 1, "expected a number from 1"),
});

const kinds = {
  request: taking(() => ({})),
  // To ask for endless many pages ahead would never end.
  list: taking(() => ({
    prefetch: z.optional(z.number().check(z.nonnegative({ error: "expected a number from 0" }))),
  })),
  all: () =>
    z.strictObject({
      limit: custom((value) => typeof value === "number" && !Number.isNaN(value), "expected a number"),
    }),
  conditional: () =>
    z.strictObject({
      etag: told("if-none-match", "etag"),
      lastModified: told("if-modified-since", "lastModified"),
    }),
  wait: taking(waiting),
  ensure: () => z.strictObject(ensuring()),
  ensureMany: taking(() => ({ ...ensuring(), ...manyRows() })),
  batch: taking(() => ({ ...waiting(), ...manyRows() })),
} satisfies Record<string, Schema>;

/** A set of options: those of a request, and those that some calls take beside them. */
export type OptionKind = keyof typeof kinds;

const unknownOption: UnknownKey = {
  message: "is not an option here",
  aliases: new Map([
    ["limit", "toArray({ limit })"],
    ["maxRetries", "retry.retries"],
    ["retries", "retry.retries"],
    ["abortSignal", "signal"],
  ]),
};

/** What is wrong with a call's own options. */
export function optionFaults(options: unknown, kind: OptionKind = "request"): readonly Issue[] {
  if (!isRecord(options)) return [{ path: ["options"], message: "expected an object" }];
  if (isSignal(options))
    return [{ path: ["options"], message: "expected an object, not a signal: write `{ signal }`" }];
  const checked = check(kinds[kind], options, [], unknownOption);
  return checked.ok ? [] : checked.issues;
}

/** Throws what is wrong with the options of a call that does something with them before it sends a request. */
export function assertOptions(kind: OptionKind, options: unknown, endpoint?: string): void {
  const issues = optionFaults(options, kind);
  if (issues.length > 0) throw new RequestValidationError({ issues, ...(endpoint !== undefined && { endpoint }) });
}
