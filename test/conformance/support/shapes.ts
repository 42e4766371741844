import { expect } from "vitest";

/** Returns what is wrong with a value. Fields that it does not name pass: response objects are open (9 rule 4). */
export interface Matcher {
  (value: unknown, path: string): readonly string[];
  /** A value that fits. */
  readonly example: unknown;
}

const matcher = (check: (value: unknown, path: string) => readonly string[], example: unknown): Matcher =>
  Object.assign((value: unknown, path: string) => check(value, path), { example });

const is = (what: string, example: unknown, holds: (value: unknown) => boolean): Matcher =>
  matcher(
    (value, path) => (holds(value) ? [] : [`${path}: expected ${what}, got ${JSON.stringify(value) ?? "nothing"}`]),
    example,
  );

const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const isUrl = (value: unknown): boolean => typeof value === "string" && /^https?:/.test(value) && URL.canParse(value);

export const text = is("a string", "text", (value) => typeof value === "string");
export const filled = is("a string that is not empty", "text", (value) => typeof value === "string" && value !== "");
export const integer = is("an integer", 7, Number.isInteger);
export const flag = is("a boolean", true, (value) => typeof value === "boolean");
export const nothing = is("null", null, (value) => value === null);
export const timestamp = is(
  "an ISO 8601 timestamp",
  "2026-11-02T09:00:00Z",
  (value) => typeof value === "string" && timestampPattern.test(value) && !Number.isNaN(Date.parse(value)),
);
export const url = is("a URL", "https://partner.example/file", isUrl);
export const base64 = is(
  "base64",
  "AAAA",
  (value) => typeof value === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(value),
);
export const oneOf = (...values: readonly string[]): Matcher =>
  is(`one of ${values.join(", ")}`, values[0], (value) => values.includes(String(value)));
export const like = (pattern: RegExp, example?: string): Matcher =>
  is(`text like ${pattern}`, example, (value) => typeof value === "string" && pattern.test(value));

/** A reference of a kind (2.1). */
export const ref = (kind: string): Matcher =>
  like(new RegExp(`^${kind}_[0123456789abcdefghjkmnpqrstvwxyz]{26}$`), `${kind}_${"0".repeat(26)}`);

export const nullOr = (other: Matcher): Matcher =>
  matcher((value, path) => (value === null ? [] : other(value, path)), other.example);

/** The shape that a value itself selects. The example has the shape of a value that is absent. */
export const selected = (select: (value: unknown) => Matcher): Matcher =>
  matcher((value, path) => select(value)(value, path), select(undefined).example);

export const list = (entry: Matcher): Matcher =>
  matcher(
    (value, path) =>
      Array.isArray(value)
        ? value.flatMap((one, index) => entry(one, `${path}[${index}]`))
        : is("a list", [], Array.isArray)(value, path),
    [entry.example],
  );

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const exampleOf = (fields: Readonly<Record<string, Matcher>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, { example }]) => [name, example]));

/** An object that has each of these fields. */
export const object = (fields: Readonly<Record<string, Matcher>> = {}): Matcher =>
  matcher(
    (value, path) =>
      isObject(value)
        ? Object.entries(fields).flatMap(([name, field]) =>
            Object.hasOwn(value, name) ? field(value[name], `${path}.${name}`) : [`${path}.${name}: missing`],
          )
        : is("an object", {}, isObject)(value, path),
    exampleOf(fields),
  );

/** An object that has each of these fields and no other: what the specification promises. */
export const exactly = (fields: Readonly<Record<string, Matcher>>): Matcher =>
  matcher(
    (value, path) => [
      ...object(fields)(value, path),
      ...Object.keys(isObject(value) ? value : {})
        .filter((name) => !Object.hasOwn(fields, name))
        .map((name) => `${path}.${name}: not promised`),
    ],
    exampleOf(fields),
  );

export const expectShape = (value: unknown, shape: Matcher): void => expect(shape(value, "body")).toEqual([]);

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
