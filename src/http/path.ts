import type { Issue } from "../errors/validation.ts";
import { type ReferenceKind, referenceFault } from "../references/references.ts";

const parameter = /\{(\w+)\}/g;

/** The kind that a path parameter's name promises: `orderReference` is a reference of kind Order. */
export function kindOfParameter(name: string): ReferenceKind | undefined {
  if (!name.endsWith("Reference")) return undefined;
  return (name.charAt(0).toUpperCase() + name.slice(1, -"Reference".length)) as ReferenceKind;
}

/** Control characters and lone surrogates have no honest form in a URL. */
const unwritable = /\p{Cc}|\p{Cs}/u;

function segmentFault(value: unknown): string | undefined {
  if (typeof value !== "string") return `expected a string; got ${value === null ? "null" : typeof value}`;
  if (value === "") return "must not be empty";
  if (value === "." || value === "..") return `"${value}" would change the path`;
  if (/[/\\]/.test(value)) return "must not contain a slash or a backslash";
  if (unwritable.test(value)) return "must not contain control characters or lone surrogates";
  return undefined;
}

/** Writes the parameters into a path template, one encoded segment each, and collects what is wrong with them. */
export function expandPath(template: string, values: Readonly<Record<string, unknown>>, issues: Issue[]): string {
  return template.replace(parameter, (_, name: string) => {
    const value = values[name];
    const kind = kindOfParameter(name);
    const fault = kind === undefined ? segmentFault(value) : referenceFault(kind, value);
    if (fault === undefined) return encodeURIComponent(String(value));
    issues.push({ path: [name], message: fault });
    return "";
  });
}
