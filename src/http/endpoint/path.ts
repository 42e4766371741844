import type { Issue } from "../../errors/validation.ts";
import { type ReferenceKind, referenceFault } from "../../references/references.ts";

const parameter = /\{(\w+)\}/g;

/** The reference kind of a path parameter, by its name: `orderReference` is a reference of kind Order. */
export function kindOfParameter(name: string): ReferenceKind | undefined {
  if (!name.endsWith("Reference")) return undefined;
  return (name.charAt(0).toUpperCase() + name.slice(1, -"Reference".length)) as ReferenceKind;
}

/** Control characters and lone surrogates cannot be written in a URL. */
const unwritable = /\p{Cc}|\p{Cs}/u;

function segmentFault(value: unknown): string | undefined {
  if (typeof value !== "string") return `expected a string; got ${value === null ? "null" : typeof value}`;
  if (value === "") return "must not be empty";
  if (value === "." || value === "..") return `"${value}" would change the path`;
  if (/[/\\]/.test(value)) return "must not contain a slash or a backslash";
  if (unwritable.test(value)) return "must not contain control characters or lone surrogates";
  return undefined;
}

/** The parts of each template: fixed text at even indexes, parameter names at odd indexes. */
const templates = new Map<string, readonly string[]>();

function partsOf(template: string): readonly string[] {
  let parts = templates.get(template);
  if (parts === undefined) {
    parts = template.split(parameter);
    templates.set(template, parts);
  }
  return parts;
}

/** Writes the parameters into a path template, each as one encoded segment, and adds their faults to `issues`. */
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
