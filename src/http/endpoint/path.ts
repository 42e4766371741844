import type { Issue } from "../../errors/validation.ts";
import { type ReferenceKind, referenceFault } from "../../references/references.ts";

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

/** A template in its parts: fixed text at even places, parameter names at odd ones. */
const templates = new Map<string, readonly string[]>();

function partsOf(template: string): readonly string[] {
  let parts = templates.get(template);
  if (parts === undefined) {
    parts = template.split(parameter);
    templates.set(template, parts);
  }
  return parts;
}

/** Writes the parameters into a path template, one encoded segment each, and collects what is wrong with them. */
export function expandPath(template: string, values: Readonly<Record<string, unknown>>, issues: Issue[]): string {
  if (!template.includes("{")) return template;
  const parts = partsOf(template);
  let path = parts[0] ?? "";
  for (let index = 1; index < parts.length; index += 2) {
    const name = parts[index] ?? "";
    const value = values[name];
    const kind = kindOfParameter(name);
    const fault = kind === undefined ? segmentFault(value) : referenceFault(kind, value);
    if (fault !== undefined) issues.push({ path: [name], message: fault });
    else path += encodeURIComponent(String(value));
    path += parts[index + 1] ?? "";
  }
  return path;
}
