import { en } from "zod/locales";
import * as z from "zod/mini";
import type { Issue } from "../errors/validation.ts";
import { wordsOf } from "../util/foreign.ts";
import type { Schema } from "./shape.ts";

/** What checking a value gives: the value with its defaults, or everything that is wrong with it. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Told for each parse: zod's own configuration belongs to the program, which may have set another language. */
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

/** Zod names the object that has unknown keys; a caller wants the way to each of them. */
function toIssues(issue: z.core.$ZodIssue, at: Issue["path"], unknown: string): Issue[] {
  const path = [...at, ...issue.path.map((part) => (typeof part === "symbol" ? String(part) : part))];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...path, key], message: unknown }));
  }
  return [{ path, message: issue.message }];
}

/**
 * Checks a value; `at` is the way to it from the outermost value, for the paths of the issues. `unknown` tells what a key is that
 * the schema does not know: a request's bodies are what most of them are for.
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
    // A getter of the value, or the caller's own schema, can throw.
    return { ok: false, issues: [{ path: at, message: `cannot be checked: ${wordsOf(error)}` }] };
  }
}
