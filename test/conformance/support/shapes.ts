import { expect } from "vitest";

/** Returns what is wrong with a value. Fields that it does not name pass: response objects are open (9 rule 4). */
export type Matcher = (value: unknown, path: string) => readonly string[];

const is =
  (what: string, holds: (value: unknown) => boolean): Matcher =>
  (value, path) =>
    holds(value) ? [] : [`${path}: expected ${what}, got ${JSON.stringify(value) ?? "nothing"}`];

const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const isUrl = (value: unknown): boolean => typeof value === "string" && /^https?:/.test(value) && URL.canParse(value);

export const text = is("a string", (value) => typeof value === "string");
export const filled = is("a string that is not empty", (value) => typeof value === "string" && value !== "");
export const integer = is("an integer", Number.isInteger);
export const flag = is("a boolean", (value) => typeof value === "boolean");
export const nothing = is("null", (value) => value === null);
export const timestamp = is(
  "an ISO 8601 timestamp",
  (value) => typeof value === "string" && timestampPattern.test(value) && !Number.isNaN(Date.parse(value)),
);
export const url = is("a URL", isUrl);
export const base64 = is("base64", (value) => typeof value === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(value));
export const oneOf = (...values: readonly string[]): Matcher =>
  is(`one of ${values.join(", ")}`, (value) => values.includes(String(value)));
export const like = (pattern: RegExp): Matcher =>
  is(`text like ${pattern}`, (value) => typeof value === "string" && pattern.test(value));

/** A reference of a kind (2.1). */
export const ref = (kind: string): Matcher => like(new RegExp(`^${kind}_[0123456789abcdefghjkmnpqrstvwxyz]{26}$`));

export const nullOr =
  (other: Matcher): Matcher =>
  (value, path) =>
    value === null ? [] : other(value, path);

export const list =
  (entry: Matcher): Matcher =>
  (value, path) =>
    Array.isArray(value)
      ? value.flatMap((one, index) => entry(one, `${path}[${index}]`))
      : is("a list", Array.isArray)(value, path);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An object that has each of these fields. */
export const object =
  (fields: Readonly<Record<string, Matcher>> = {}): Matcher =>
  (value, path) =>
    isObject(value)
      ? Object.entries(fields).flatMap(([name, matcher]) =>
          Object.hasOwn(value, name) ? matcher(value[name], `${path}.${name}`) : [`${path}.${name}: missing`],
        )
      : is("an object", isObject)(value, path);

/** An object that has each of these fields and no other: what the specification promises. */
export const exactly =
  (fields: Readonly<Record<string, Matcher>>): Matcher =>
  (value, path) => [
    ...object(fields)(value, path),
    ...Object.keys(isObject(value) ? value : {})
      .filter((name) => !Object.hasOwn(fields, name))
      .map((name) => `${path}.${name}: not promised`),
  ];

export const expectShape = (value: unknown, matcher: Matcher): void => expect(matcher(value, "body")).toEqual([]);

/** The error object of a 4xx response (2.2, 7 rule 1). */
export const errorObject = object({ code: like(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/), message: filled });

/** Each field of the objects in a JSON value. */
export function fieldsOf(value: unknown): readonly (readonly [name: string, value: unknown])[] {
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap((field) => [field, ...fieldsOf(field[1])]);
}

/** Each string of a JSON value. */
export function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
