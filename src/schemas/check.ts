import { en } from "zod/locales";
import * as z from "zod/mini";
import type { Issue } from "../errors/validation.ts";
import { wordsOf } from "../util/foreign.ts";
import type { Schema } from "./shape.ts";

/** The result of a check: the value with its defaults, or all its faults. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Passed to each parse, because the program may have set zod's global configuration to another language. */
const english = { error: en().localeError };

const built = new WeakMap<Schema, z.core.$ZodType>();

function build(schema: Schema): z.core.$ZodType {
  let checker = built.get(schema);
  if (checker === undefined) {
    checker = schema();
    built.set(schema, checker);
  }
  return checker;
}

/** Converts an issue of zod. For unknown keys, zod gives the path of their object; the SDK gives the path of each key. */
function toIssues(issue: z.core.$ZodIssue, at: Issue["path"], unknown: string): Issue[] {
  const path = [...at, ...issue.path.map((part) => (typeof part === "symbol" ? String(part) : part))];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...path, key], message: unknown }));
  }
  return [{ path, message: issue.message }];
}

/**
 * Checks a value against a schema. Never throws. `at` is the path of the value, which the paths of the issues start with. `unknown` is
 * the message for a key that the schema does not have.
 */
export function check(
  schema: Schema,
  value: unknown,
  at: Issue["path"],
  unknown = "is not a known field of this request",
): Checked {
  try {
    const parsed = z.safeParse(build(schema), value, english);
    if (parsed.success) return { ok: true, value: parsed.data };
    return { ok: false, issues: parsed.error.issues.flatMap((issue) => toIssues(issue, at, unknown)) };
  } catch (error) {
    // A getter of the value or a schema of the caller can throw.
    return {
      ok: false,
      issues: [{ path: at, message: `cannot be checked: reading it threw an error: ${wordsOf(error)}` }],
    };
  }
}
