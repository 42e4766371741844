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
  if (typeof value === "number" && !Number.isInteger(value))
    return Number.isFinite(value) ? "a fraction" : String(value);
  return named(Array.isArray(value) ? "array" : typeof value);
}

const written = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : String(value));

/** For example `"a", "b" or "c"`. */
const oneOf = (values: readonly unknown[]): string =>
  values
    .map(written)
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1");

const units: Readonly<Record<string, string>> = { string: "character", array: "item" };

/** For example `expected a number above 0` or `expected at least 2 items`. Only the limit of a number can be exclusive. */
function sized(origin: string, bound: string, limit: number | bigint, exclusive: string | false): string {
  const unit = units[origin];
  if (unit === undefined) return `expected a number ${exclusive || `of ${bound}`} ${limit}`;
  return `expected ${bound} ${limit} ${unit}${limit === 1 ? "" : "s"}`;
}

function tooSmall({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): string {
  if (origin === "string" && minimum === 1) return "expected a string that is not empty";
  return sized(origin, "at least", minimum, inclusive === false && "above");
}

const tooBig = ({ origin, maximum, inclusive }: z.core.$ZodIssueTooBig): string =>
  sized(origin, "at most", maximum, inclusive === false && "below");

/** The message of an issue without one in its schema. It replaces zod's messages, for which the program may have set another language. */
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

/** The number of letters to insert, remove or replace to turn one word into another (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (letter === other[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

/** Maximum characters of a name that is compared: a longer one is not a typing error, and comparing it takes time. */
const maxCompared = 64;

/**
 * The name that a misspelt one most likely stands for: at most a third of its letters differ, ignoring case, or it is the only name that
 * contains the misspelt one.
 */
export function nearest(name: string, names: readonly string[]): string | undefined {
  if (name.length > maxCompared) return undefined;
  const letters = name.toLowerCase();
  let best: string | undefined;
  let least = Math.floor(name.length / 3) + 1;
  for (const known of names) {
    const away = distance(letters, known.toLowerCase());
    if (away < least) [best, least] = [known, away];
  }
  if (best !== undefined || letters.length < 4) return best;
  const longer = names.filter((known) => known.toLowerCase().includes(letters));
  return longer.length === 1 ? longer[0] : undefined;
}
