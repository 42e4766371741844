import * as z from "zod/mini";
import { type Issue, maxIssues, RequestValidationError, unchecked } from "../errors/validation.ts";
import { type Checked, check, unknownOption } from "../schemas/check.ts";
import { addIssue, type Schema } from "../schemas/shape.ts";
import type { Overrides } from "../util/fields.ts";
import { isFieldObject, isFunction, isObject, isPlainObject, propertyOf, wordsOf } from "../util/foreign.ts";
import { isBlob } from "../util/kinds.ts";
import type { Priority } from "./pacing/queue.ts";

/** How often a failed attempt is retried, and how long the waits are. Times in milliseconds. */
export interface RetryOptions {
  /** The maximum number of retries. Default 7; 0 turns retries off. */
  readonly retries: number;
  /** The upper bound of the first backoff. It doubles each time, and each wait is random between half of it and the whole. Default 250. */
  readonly baseDelay: number;
  /** The upper bound of any backoff. Default 10 000. */
  readonly maxDelay: number;
  /**
   * The longest wait for a `Retry-After` or for a bucket's next token. When the wait would be longer, the call throws at once. Default
   * 120 000.
   */
  readonly maxRetryAfter: number;
}

/** A query value. An array repeats the parameter. */
export type QueryValue = string | number | boolean | undefined | readonly (string | number | boolean)[];

/** Headers of a request, in the forms that `fetch` takes: an object, `Headers`, a `Map` or a list of pairs. */
export type HeadersInput =
  | Readonly<Record<string, string>>
  | Headers
  | ReadonlyMap<string, string>
  | readonly (readonly [name: string, value: string])[];

/** The last argument of every call. All fields are optional; without a field, the client's own option applies. */
export interface RequestOptions {
  /** Ends the call at once, at any step, with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt, response body included. Default: the client's `timeout`, 30 000. */
  readonly timeout?: number | undefined;
  /** Milliseconds for the call as a whole: queueing, waits, attempts, body. Default: the client's `deadline`, none. */
  readonly deadline?: number | undefined;
  /** Parts of the client's `retry` to replace; `false` sends one attempt. */
  readonly retry?: Overrides<RetryOptions> | false | undefined;
  /** The order among the calls that wait for a token. Default `normal`; `ensureMany`, `batch` and `changes` use `low`. */
  readonly priority?: Priority | undefined;
  /**
   * Your name of the call in all events, errors, log lines and traces, such as the id of a job: at most 200 characters. The rows of a call
   * for many rows add `/` and their number, from 0. Default: a new one for each call.
   */
  readonly callId?: string | undefined;
  /** Headers to add. `user-agent` replaces the SDK's own. The header of the secret key is refused. */
  readonly headers?: HeadersInput | undefined;
  /** Query parameters to add that the SDK does not know. One that it knows is refused. */
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  /**
   * Body fields to add that the SDK does not know. They are added to the request's JSON body: to an object by name, to a list by index. A
   * field that would replace one of the call's input is refused.
   *
   * @example
   * await partner.orders.create(order, { body: { order: { brandReference } } });
   */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

/** Marks the options of a call that the SDK makes as a part of another call. */
export const partOfCall = Symbol("partOfCall");

/** The options of a part of another call. */
export interface PartOptions extends RequestOptions {
  /** `urgent`: it comes before all other calls. */
  readonly [partOfCall]: true | "urgent";
}

/** The options of a call without options. */
export const noOptions: RequestOptions = {};

/** Headers that belong to the connection: `fetch` refuses them as if the connection had failed, or breaks the connection. */
const impossible = new Set(
  ["connection", "content-length", "expect", "host", "keep-alive", "trailer", "transfer-encoding", "upgrade"], //
);

/** The value of a header without the white space around it, as the platform's `Headers` keep it. */
const trimmed = (value: string): string => value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");

/**
 * Whether a name and a value can be a header (RFC 9110, 5). It does not use the global `Headers`: a program may have replaced them, and the
 * platform's lose the name `__proto__`.
 */
export const isHeader = (name: unknown, value: unknown): boolean =>
  typeof name === "string" &&
  typeof value === "string" &&
  /^[!#$%&'*+.^_`|~\w-]+$/.test(name) &&
  name !== "__proto__" &&
  /^[\t\x20-\x7e\x80-\xff]*$/.test(trimmed(value));

/** Whether a request can carry a header. The platform would report an invalid one as a failed connection. */
export const isValidHeader = (name: unknown, value: unknown): boolean =>
  isHeader(name, value) && !impossible.has(String(name).toLowerCase());

const isIterable = (value: object): value is Iterable<unknown> => Symbol.iterator in value;

/** The faults of headers, in any of their forms. */
function headerFaults(headers: unknown): readonly Issue[] {
  // An iterator gives its headers only once, and this check would use them up. What a class computes would be lost.
  const isIterator = isObject(headers) && "next" in headers && isFunction(headers.next);
  if (!isObject(headers) || isIterator || !(isPlainObject(headers) || isIterable(headers)))
    return [{ path: [], message: "expected an object with names and values, `Headers`, a `Map` or a list of pairs" }];
  const issues: Issue[] = [];
  const entries: Iterable<unknown> = isIterable(headers) ? headers : Object.entries(headers);
  let index = 0;
  for (const entry of entries) {
    const [name, value] = Array.isArray(entry) && entry.length === 2 ? entry : [];
    if (typeof name === "string" && name.toLowerCase() === "x-service-secret-key") {
      issues.push({ path: [name], message: "is the key of the client: create a client with another `secretKey`" });
    } else if (!isValidHeader(name, value)) {
      issues.push({
        path: [typeof name === "string" ? name : index],
        message: "is not a header that a request can carry: remove it, or correct its name or value",
      });
    }
    if (issues.length > maxIssues) break;
    index += 1;
  }
  return issues;
}

/** Names and values of headers. Pairs with the same name become one header with all values. */
export function headerEntries(headers: HeadersInput): HeaderEntries {
  const entries = new Map<string, string>();
  for (const [name, value] of isIterable(headers) ? headers : Object.entries(headers)) {
    const [key, before] = [name.toLowerCase(), entries.get(name.toLowerCase())];
    entries.set(key, before === undefined ? trimmed(value) : `${before}, ${trimmed(value)}`);
  }
  return [...entries];
}

const positive = () => z.optional(z.number().check(z.positive()));
const notNegative = () => z.optional(z.number().check(z.nonnegative()));
/** An optional value that a function checks. */
export const custom = (holds: (value: unknown) => boolean, error: string) => z.optional(z.custom(holds, { error }));

/** Whether a value can be used as a signal. It may come from another realm or from a polyfill. */
const isSignal = (value: unknown): boolean => isObject(value) && "aborted" in value && "addEventListener" in value;

/** Whether a value is an object with fields for JSON, and not a form, a map, bytes or a list. */
const isFields = (value: unknown): boolean =>
  isObject(value) && isFieldObject(value) && !(Symbol.iterator in value) && !isBlob(value);

const isQueryText = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);

const isQueryValue = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) ? value.every(isQueryText) : isQueryText(value));

/** Checks a query of any size: it stops at the first issues, and counts the values that it did not check. */
function checkQueryValues(query: unknown, context: z.core.ParsePayload): void {
  if (!isPlainObject(query)) {
    addIssue(context, { path: [], message: "expected an object with names and values" });
    return;
  }
  const entries = Object.entries(query);
  let faults = 0;
  for (const [index, [name, value]] of entries.entries()) {
    if (isQueryValue(value)) continue;
    addIssue(context, { path: [name], message: "expected a string, a number, a boolean or a list of these" });
    faults += 1;
    const left = entries.length - index - 1;
    if (faults < maxIssues || left === 0) continue;
    addIssue(context, unchecked([], left));
    return;
  }
}

/** The parts of `retry` that replace others. `false` stands for no retries. */
export const retryOverrides = () =>
  z.pipe(
    z.transform((retry) => (retry === false ? { retries: 0 } : retry)),
    z.strictObject({
      retries: z.optional(z.int().check(z.nonnegative())),
      baseDelay: notNegative(),
      maxDelay: notNegative(),
      maxRetryAfter: notNegative(),
    }),
  );

/** Whether a value can be a `callId`: one line, not too long. */
const isCallId = (value: unknown): boolean =>
  typeof value === "string" && value.length <= 200 && /^[^\p{Cc}\p{Zl}\p{Zp}]+$/u.test(value);

/** The options that every call takes, in its last argument. */
const request = () =>
  ({
    signal: custom(isSignal, "expected an AbortSignal, such as the `signal` of an AbortController"),
    timeout: positive(),
    deadline: positive(),
    priority: z.optional(z.enum(["high", "normal", "low"])),
    callId: custom(isCallId, "expected a text of 1 to 200 characters, without line breaks"),
    retry: z.optional(retryOverrides()),
    headers: z.optional(
      z.pipe(
        z.unknown().check((context) => {
          for (const issue of headerFaults(context.value)) addIssue(context, issue);
        }),
        z.transform((headers) => headerEntries(headers as HeadersInput)),
      ),
    ),
    query: z.optional(
      z.pipe(
        z.transform((query) => (isPlainObject(query) ? { ...query } : query)),
        z.unknown().check((context) => checkQueryValues(context.value, context)),
      ),
    ),
    // The SDK does not know the content. It may be an instance of a caller's class.
    body: custom(isFields, "expected an object: the fields to add to the JSON body"),
  }) satisfies Record<keyof RequestOptions, z.core.$ZodType>;

/** A strict schema: otherwise a misspelt option would have no effect. */
export const withRequestOptions =
  (more: () => z.core.$ZodLooseShape): Schema =>
  () =>
    z.strictObject({ ...request(), ...more() });

/** The options of a request, without any others. */
export const requestOptions = withRequestOptions(() => ({}));

/** The entries of headers, after the check of the options. */
export type HeaderEntries = readonly (readonly [name: string, value: string])[];

/** Options for all calls of a client, after their check. */
interface CheckedDefaults extends Pick<RequestOptions, "timeout" | "deadline" | "priority"> {
  readonly headers?: HeaderEntries | undefined;
  readonly retry?: Overrides<RetryOptions> | undefined;
}

/** The options of a request that all calls of a client can have. */
export const callDefaults: Schema<CheckedDefaults> = () => {
  const { timeout, deadline, priority, headers, retry } = request();
  return z.strictObject({ timeout, deadline, priority, headers, retry });
};

/** Adds headers to others, and replaces those of the same name. */
export const joinedHeaders = (
  headers: HeaderEntries | undefined,
  more: HeadersInput | undefined,
): HeaderEntries | undefined =>
  more === undefined ? headers : [...new Map([...(headers ?? []), ...headerEntries(more)])];

const unknown = unknownOption({
  limit: "toArray({ limit })",
  maxRetries: "retry.retries",
  retries: "retry.retries",
  abortSignal: "signal",
});

function checkAny(options: unknown, schema: Schema): Checked {
  const path = ["options"];
  const refused = (message: string): Checked => ({ ok: false, issues: [{ path, message }], described: [] });
  try {
    if (isSignal(options)) return refused("expected an object, not a signal: write `{ signal }`");
  } catch (error) {
    return refused(`cannot be checked: ${wordsOf(error)}`);
  }
  const checked = check(schema, options, [], unknown);
  if (checked.ok) return checked;
  const issues = checked.issues.map((issue) => (issue.path.length === 0 ? { ...issue, path } : issue));
  return { ...checked, issues };
}

/** Returns the faults of a call's options. */
export function optionFaults(options: unknown, schema: Schema): readonly Issue[] {
  const checked = checkAny(options, schema);
  return checked.ok ? [] : checked.issues;
}

/**
 * Checks the options of a request, and copies them: the caller may change the object while look-ups still need it, and a getter may return
 * another value the next time, or throw.
 */
export function checkOptions(given: RequestOptions): {
  readonly options: RequestOptions;
  readonly faults: readonly Issue[];
} {
  if (given === noOptions) return { options: noOptions, faults: [] };
  const checked = checkAny(given, requestOptions);
  return checked.ok
    ? { options: checked.value as RequestOptions, faults: [] }
    : { options: noOptions, faults: checked.issues };
}

/** Returns a copy of the options of a call that uses them for many requests, or throws if they are invalid. */
export function checkedOptions<Options>(schema: Schema, options: Options, endpoint?: string): Options {
  const checked = checkAny(options, schema);
  // A part of another call stays one.
  const kind = propertyOf(options, partOfCall);
  if (checked.ok) return { ...(checked.value as Options), ...(kind !== undefined && { [partOfCall]: kind }) };
  throw new RequestValidationError({ issues: checked.issues, ...(endpoint !== undefined && { endpoint }) });
}

/** Whether a request is conditional. The names of its headers are in lower case. */
export const isConditional = (headers: Readonly<Record<string, string>>): boolean =>
  "if-none-match" in headers || "if-modified-since" in headers;
