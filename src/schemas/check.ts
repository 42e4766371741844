import * as z from "zod/mini";
import { ConfigurationError, type Issue, maxIssues, unchecked } from "../errors/validation.ts";
import { isFieldObject, isRecord, tagOf, wordsOf } from "../util/foreign.ts";
import { messageOf, nearest } from "./messages.ts";
import { isDescriptive, type Schema } from "./shape.ts";

/** The result of a check: the value with its defaults, or everything that is wrong with it. */
export type Checked = {
  /** The faults of descriptive parts. They do not make the value invalid. */
  readonly described: readonly Issue[];
} & ({ readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly issues: readonly Issue[] });

/** The message for a key that the schema does not know. */
export interface UnknownKey {
  readonly message: string;
  /** Misplaced names, or names from other SDKs, with the correct name or path. */
  readonly aliases?: ReadonlyMap<string, string>;
}

/** The message for an unknown option. `aliases`: other names of options, with the correct name or path. */
export const unknownOption = (aliases: Readonly<Record<string, string>> = {}): UnknownKey => ({
  message: "is an unknown option",
  aliases: new Map(Object.entries(aliases)),
});

const unknownField: UnknownKey = { message: "is not a known field of this request" };

/** The schemas that were used so far. Each is built once. */
const built = new WeakMap<Schema, z.core.$ZodType>();

function build(schema: Schema): z.core.$ZodType {
  let checker = built.get(schema);
  if (checker === undefined) {
    checker = schema();
    built.set(schema, checker);
  }
  return checker;
}

/** The names that the object at a path may have; empty if its form depends on the value. */
function namesAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  const [part, ...rest] = path;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "lazy") return namesAt(def.getter(), path);
  if ("innerType" in def) return namesAt(def.innerType, path);
  if (def.type === "pipe") return namesAt(def.out, path);
  if (def.type === "array" && part !== undefined) return namesAt(def.element, rest);
  if (def.type !== "object") return [];
  const field = part === undefined ? undefined : def.shape[String(part)];
  if (part === undefined) return Object.keys(def.shape);
  return field === undefined ? [] : namesAt(field, rest);
}

/** The objects that cannot have fields, such as a map or a promise, in place of one with fields. Their content would have no effect. */
function* fieldlessIn(schema: z.core.$ZodType, value: unknown, path: Issue["path"]): Generator<Issue> {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (!isRecord(value)) return;
  if ("innerType" in def) yield* fieldlessIn(def.innerType, value, path);
  else if (def.type === "pipe") yield* fieldlessIn(def.out, value, path);
  else if (def.type !== "object") return;
  else if (!isFieldObject(value)) yield { path, message: `expected an object, not ${tagOf(value)}` };
  else {
    for (const [name, schema] of Object.entries(def.shape)) {
      // A getter is read once, by the check itself.
      yield* fieldlessIn(schema, Object.getOwnPropertyDescriptor(value, name)?.value, [...path, name]);
    }
  }
}

function sayUnknown({ message, aliases }: UnknownKey, key: string, names: readonly string[]): string {
  const likely = aliases?.get(key) ?? nearest(key, names);
  return likely === undefined ? message : `${message}; did you mean \`${likely}\`?`;
}

/** Writes a part of a path. A key may be a symbol, and anything in the path of the caller's own schema. */
const partOf = (part: unknown): string | number => (typeof part === "number" ? part : String(part));

/** Converts an issue of zod. Zod reports unknown keys at their object; here each key is an issue with its own path. */
function toIssues(schema: z.core.$ZodType, issue: z.core.$ZodIssue, at: Issue["path"], unknown: UnknownKey): Issue[] {
  const path = [...at, ...issue.path.map(partOf)];
  if (issue.code === "unrecognized_keys") {
    const names = namesAt(schema, issue.path);
    const known = issue.keys.slice(0, maxIssues);
    const issues = known.map((key) => ({ path: [...path, key], message: sayUnknown(unknown, key, names) }));
    const left = issue.keys.length - known.length;
    return left === 0 ? issues : [...issues, unchecked(path, left)];
  }
  if (issue.code === "custom" && issue.params !== undefined && "unchecked" in issue.params)
    return [unchecked(path, Number(issue.params.unchecked))];
  return [{ path, message: issue.message }];
}

/**
 * Checks a value.
 *
 * @param at The path of the value, with which the paths of the issues begin.
 * @param unknown The message for an unknown key. Default: that for the body of a request.
 */
export function check(schema: Schema, value: unknown, at: Issue["path"], unknown = unknownField): Checked {
  try {
    const checker = build(schema);
    const fieldless = [...fieldlessIn(checker, value, at)];
    if (fieldless.length > 0) return { ok: false, issues: fieldless, described: [] };
    // The messages are set for each parse: the global configuration of zod belongs to the program.
    const parsed = z.safeParse(checker, value, { error: messageOf });
    if (parsed.success) return { ok: true, value: parsed.data, described: [] };
    const issuesOf = (issues: z.core.$ZodIssue[] = []) =>
      issues.flatMap((issue) => toIssues(checker, issue, at, unknown));
    const { true: descriptive, false: essential } = Object.groupBy(parsed.error.issues, ({ path }) =>
      isDescriptive(checker, path) ? "true" : "false",
    );
    const described = issuesOf(descriptive);
    return essential === undefined
      ? { ok: true, value, described }
      : { ok: false, issues: issuesOf(essential), described };
  } catch (error) {
    // A getter of the value, or the caller's own schema, can throw.
    return { ok: false, issues: [{ path: at, message: `cannot be checked: ${wordsOf(error)}` }], described: [] };
  }
}

/** Whether a value matches a schema. Use the value itself: a copy could lack fields that this version does not know. */
export const matches = <Value>(schema: Schema<Value>, value: unknown): value is Value => check(schema, value, []).ok;

/** Checks the options of a part of the package, and completes them. Throws a `ConfigurationError` with all faults. */
export function checkedConfiguration<Settings>(
  schema: Schema<Settings>,
  given: unknown,
  whose?: string,
  unknown = unknownOption(),
): Settings {
  const checked = check(schema, given, [], unknown);
  if (!checked.ok) throw new ConfigurationError({ issues: checked.issues }, whose);
  return checked.value as Settings;
}
