import * as z from "zod/mini";
import { ZodMiniArray } from "zod/mini";
import { $constructor, type $ZodObject, $ZodType } from "zod/v4/core";
import { maxIssues } from "../errors/validation.ts";
import { type Reference, type ReferenceKind, referenceFault, referencePattern } from "../references/references.ts";
import type { PartnerClock } from "../util/clock.ts";
import { isRecord } from "../util/foreign.ts";
import { hasMethods } from "../util/kinds.ts";
import { isExistingTime, isTimestamp } from "../util/timestamp.ts";

/**
 * A function that builds a schema. Building all schemas at load time would more than double the load time of the package, so `check`
 * builds each schema at its first use and keeps it.
 */
export type Schema<Value = unknown> = () => z.core.$ZodType<Value>;

/**
 * A schema for each field of `T`, no more and no fewer. The compiler reports an error if the interface and the schema have different
 * fields.
 */
type Shape<T> = { readonly [Field in keyof T]-?: z.core.$ZodType<T[Field]> };

/** An issue of a part, at its place in the whole. */
const within = (part: PropertyKey, issue: z.core.$ZodRawIssue): z.core.$ZodRawIssue => ({
  ...issue,
  path: [part, ...(issue.path ?? [])],
});

/** Runs a schema. */
function run(schema: z.core.$ZodType, value: unknown, context: z.core.ParseContextInternal): z.core.ParsePayload {
  const result = schema._zod.run({ value, issues: [] }, context);
  if (result instanceof Promise) throw new TypeError("a schema of this package is never asynchronous");
  return result;
}

/** An object that is checked and not copied: the SDK returns the response itself. */
const OpenObject = $constructor<$ZodObject>("OpenObject", (inst, def) => {
  const base: z.core.$constructor<$ZodType> = $ZodType;
  base.init(inst, def);
  const fields = Object.entries(def.shape);
  inst._zod.parse = (payload, context) => {
    const { value: input, issues } = payload;
    if (!isRecord(input)) {
      issues.push({ code: "invalid_type", expected: "object", input, inst });
      return payload;
    }
    for (const [name, field] of fields) {
      for (const issue of run(field, input[name], context).issues) issues.push(within(name, issue));
    }
    return payload;
  };
});

/**
 * Builds the schema of a response object. Unknown fields pass, because the service may add fields at any time (specification 9.4).
 * They are kept (decision 0002).
 */
export function open<T>(shape: Shape<T>): z.core.$ZodType<T>;
export function open(shape: z.core.$ZodLooseShape): z.core.$ZodType {
  return new OpenObject({ type: "object", shape });
}

/** Builds the schema of a request object. Unknown fields are faults, because the service rejects them (specification 4). */
export function strict<T>(shape: Shape<T>): z.ZodMiniType<T>;
export function strict(shape: z.core.$ZodLooseShape): z.ZodMiniType {
  return z.strictObject(shape);
}

/** The schemas of descriptive parts, and whether everything inside such a part is descriptive, too. */
const descriptions = new WeakMap<z.core.$ZodType, boolean>();

/**
 * Marks a part of a response as descriptive: no decision and no money depends on it. A fault in it is reported, and the response is returned.
 * Parts that are not marked are essential: a fault in them is an error.
 *
 * @param inside Whether everything inside the part is descriptive, too. Otherwise the part may be absent, but its content, such as the
 * references in a list, must be valid.
 */
export function descriptive<Part extends z.core.$ZodType>(schema: Part, inside = true): Part {
  descriptions.set(schema, inside);
  return schema;
}

/** Whether the value at a path is in a descriptive part of the schema. */
export function isDescriptive(schema: z.core.$ZodType, path: readonly PropertyKey[]): boolean {
  const inside = descriptions.get(schema);
  if (inside !== undefined && (inside || path.length === 0)) return true;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if ("innerType" in def) return isDescriptive(def.innerType, path);
  const [part, ...rest] = path;
  if (part === undefined) return false;
  if (def.type === "array") return isDescriptive(def.element, rest);
  const field = def.type === "object" ? def.shape[String(part)] : undefined;
  return field !== undefined && isDescriptive(field, rest);
}

/** The place of an issue in every item of a list: `orderlines[].legacySku`. */
export const placeOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => (typeof part === "number" ? "[]" : `.${String(part)}`)).join("");

/** The check of a list stops at this number of descriptive faults, because each takes microseconds. */
const maxDescriptive = 100_000;

/** Decides which issues of a list are kept: all essential ones, and the first descriptive one of each place. */
class ListIssues {
  readonly #places = new Set<string>();
  #essential = 0;
  #described = 0;

  get isFull(): boolean {
    return this.#essential >= maxIssues || this.#described >= maxDescriptive;
  }

  /** Whether to keep an issue at this path of an item. */
  keeps(element: z.core.$ZodType, path: readonly PropertyKey[]): boolean {
    if (!isDescriptive(element, path)) {
      this.#essential += 1;
      return true;
    }
    this.#described += 1;
    const known = this.#places.size;
    return this.#places.add(placeOf(path)).size > known;
  }
}

/** A list whose check stops at too many issues: millions of them would take minutes and gigabytes. */
const BoundedArray = $constructor<ZodMiniArray>("BoundedArray", (inst, def) => {
  const base: z.core.$constructor<ZodMiniArray> = ZodMiniArray;
  base.init(inst, def);
  const parse = inst._zod.parse;
  inst._zod.parse = (payload, context) => {
    const { value: items, issues } = payload;
    if (!Array.isArray(items)) return parse(payload, context);
    const read: unknown[] = [];
    const found = new ListIssues();
    payload.value = read;
    for (const [index, value] of items.entries()) {
      const item = run(def.element, value, context);
      read.push(item.value);
      for (const issue of item.issues) {
        if (found.keeps(def.element, issue.path ?? [])) issues.push(within(index, issue));
      }
      const left = items.length - read.length;
      if (!found.isFull || left === 0) continue;
      issues.push({ code: "custom", path: [], input: items, inst, params: { unchecked: left } });
      break;
    }
    return payload;
  };
});

/** Builds the schema of a list. It reports only the first issues, and counts the items that it did not check. */
export function array<Item>(element: z.core.$ZodType<Item>): z.ZodMiniArray<z.core.$ZodType<Item>>;
export function array(element: z.core.$ZodType): z.ZodMiniArray {
  return new BoundedArray({ type: "array", element });
}

/** An object whose fields the specification does not show. */
export type OpenRecord = Readonly<Record<string, unknown>>;
export const openRecord: Schema<OpenRecord> = () => open<OpenRecord>({});

/** Builds the schema of a reference of one kind. */
export function reference<Kind extends ReferenceKind>(kind: Kind): z.ZodMiniType<Reference<Kind>>;
export function reference(kind: ReferenceKind): z.ZodMiniType {
  const error = ({ input }: { input?: unknown }) => referenceFault(kind, input);
  return z.string({ error }).check(z.regex(referencePattern(kind), { error }));
}

/**
 * A string with at least one character and no lone surrogate. JSON can carry a lone surrogate as `\ud800`, but a URL cannot, so a
 * look-up could not find a resource by such an identifier.
 */
export const filledText = () =>
  z.string().check(
    z.minLength(1),
    z.refine((text) => text.isWellFormed(), {
      error: "must not contain a lone surrogate (half of a UTF-16 character)",
    }),
  );

/** A descriptive text or flag of a response. */
export const text = () => descriptive(z.string());
export const flag = () => descriptive(z.boolean());

/** A list of a response whose entries the specification does not show. */
export const anyList = () => descriptive(array(z.unknown()));

/** An ISO 8601 timestamp of a response, unchanged: in the extended or basic format, in any precision that includes the day. */
export const timestamp = () =>
  descriptive(z.string().check(z.refine(isTimestamp, { error: "expected an ISO 8601 timestamp" })));

/** A timestamp of a request: an existing day, with a time and an offset if the caller gives them. */
export const timestampInput = () =>
  z.string().check(
    z.refine((text) => isTimestamp(text) && isExistingTime(text), {
      error: 'expected an ISO 8601 timestamp, for example "2026-11-01T00:00:00Z"',
    }),
  );

/** An open enum (specification 9.6). Editors complete the known values, and other values pass. */
export type OpenEnum<Known extends string> = Known | (string & Record<never, never>);
export const openEnum = <Known extends string>(): z.core.$ZodType<OpenEnum<Known>> => text();

/** Adds an issue to those of a value, in a check of its schema. Later checks still run. */
export function addIssue(
  { issues, value }: z.core.ParsePayload,
  { path, message, ...params }: { readonly path: readonly PropertyKey[]; readonly message: string },
): void {
  issues.push({ code: "custom", path: [...path], message, input: value, params, continue: true });
}

/** A whole number, at least `minimum`. */
export const count = (minimum: number) => z.int().check(z.gte(minimum));

/** The schema of a {@link PartnerClock}. */
export const clock = () =>
  z.custom<PartnerClock>((value) => hasMethods(value, "now", "after"), {
    error: "expected a clock with the functions `now` and `after`",
  });

/** Refuses a text in quotes. Without a shell, the quotes in a file of environment variables become a part of the value. */
export const unquoted = () =>
  z.refine<string>((text) => !/^\s*(["'`]).*\1\s*$/s.test(text), {
    error: "has quotes around it: leave them out (`docker --env-file` keeps them as a part of the value)",
    abort: true,
  });

const missingBaseUrl = "is required: pass it, or set POD_PARTNER_BASE_URL";

/**
 * Whether a URL has credentials as the platform parses it, also in the forms `http:user:pw@h`, `https:///user:pw@h` and
 * `http:\\user:pw@h`. An `@` without credentials is a mistake and also counts.
 */
function hasCredentials(text: string): boolean {
  const { username, password } = new URL(text);
  return username !== "" || password !== "" || /^[^/\\]*[/\\]*[^/\\]*@/.test(text);
}

/** A base URL that ends in `/v2`. The result has no slash at its end and no surrounding blanks. */
export const baseUrl = () =>
  z.pipe(
    z.string({ error: ({ input }) => (input === undefined ? missingBaseUrl : "expected a URL as a string") }).check(
      unquoted(),
      z.refine((text) => URL.canParse(text) && !/\s/.test(text.trim()), {
        error: "expected a URL, for example https://host/v2",
        abort: true,
      }),
      z.refine((text) => /^https?:$/.test(new URL(text).protocol), { error: "must start with http: or https:" }),
      z.refine((text) => /\/v2\/?$/.test(new URL(text).pathname), { error: "must end in /v2, the major version" }),
      // An empty query or fragment stays in the URL, in front of the path of each call.
      z.refine((text) => !/[?#]/.test(text) && !hasCredentials(text), {
        error: "must not contain credentials, a query or a fragment",
      }),
    ),
    z.transform((text: string) => new URL(text).href.replace(/\/$/, "")),
  );
