import type * as z from "zod/mini";

const articles: Readonly<Record<string, string>> = {
  int: "a whole number",
  nan: "NaN",
  null: "null",
  undefined: "nothing",
};

/** A type with its article, for example `an array`. */
const named = (type: string): string => articles[type] ?? `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return named(Array.isArray(value) ? "array" : typeof value);
}

const written = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : String(value));

/** For example `"a", "b" or "c"`. */
const oneOf = (values: readonly unknown[]): string =>
  values
    .map(written)
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1");

const units: Readonly<Record<string, string>> = { string: "characters", array: "items", set: "items", map: "entries" };

const sized = (origin: string, bound: string, limit: number | bigint): string =>
  units[origin] === undefined
    ? `expected a number ${bound} ${limit}`
    : `expected ${bound} ${limit} ${units[origin]}`.replace(/\b1 (\w+?)s$/, "1 $1");

function tooSmall({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): string {
  if (origin === "string" && minimum === 1) return "expected a string that is not empty";
  return sized(origin, inclusive === false ? "above" : "of at least", minimum).replace(/of (at least \d+ \D)/, "$1");
}

const tooBig = ({ origin, maximum, inclusive }: z.core.$ZodIssueTooBig): string =>
  sized(origin, inclusive === false ? "below" : "of at most", maximum).replace(/of (at most \d+ \D)/, "$1");

/**
 * The message of an issue, when the schema does not define one. It replaces zod's messages, for which the program may have set another
 * language.
 */
export function messageOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? `is missing: expected ${named(issue.expected)}`
        : `expected ${named(issue.expected)}, not ${kindOf(issue.input)}`;
    case "invalid_value":
      return `${issue.input === undefined ? "is missing: " : ""}expected ${oneOf(issue.values)}`;
    case "too_small":
      return tooSmall(issue as z.core.$ZodIssueTooSmall);
    case "too_big":
      return tooBig(issue as z.core.$ZodIssueTooBig);
    case "invalid_format":
      return `expected the format ${issue.format}`;
    default:
      return "is not valid";
  }
}
