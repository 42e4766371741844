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

/** A parameter of a path template, and the fixed text after it. */
interface Parameter {
  readonly name: string;
  readonly kind: ReferenceKind | undefined;
  readonly after: string;
}

interface Template {
  readonly before: string;
  readonly parameters: readonly Parameter[];
}

/** The templates of the endpoints, split once. */
const templates = new Map<string, Template>();

function split(path: string): Template {
  const [before = "", ...rest] = path.split(parameter);
  const parameters: Parameter[] = [];
  for (let index = 0; index < rest.length; index += 2) {
    const name = rest[index] ?? "";
    parameters.push({ name, kind: kindOfParameter(name), after: rest[index + 1] ?? "" });
  }
  return { before, parameters };
}

function templateOf(path: string): Template {
  let template = templates.get(path);
  if (template === undefined) {
    template = split(path);
    templates.set(path, template);
  }
  return template;
}

/** Writes the parameters into a path template, each as one encoded segment, and adds their faults to `issues`. */
export function expandPath(path: string, values: Readonly<Record<string, unknown>>, issues: Issue[]): string {
  // Any path can be requested: one without parameters is not remembered.
  if (!path.includes("{")) return path;
  const { before, parameters } = templateOf(path);
  let expanded = before;
  for (const { name, kind, after } of parameters) {
    const value = values[name];
    const fault = kind === undefined ? segmentFault(value) : referenceFault(kind, value);
    if (fault !== undefined) issues.push({ path: [name], message: fault });
    // A reference has no character that is encoded.
    else expanded += kind === undefined ? encodeURIComponent(String(value)) : value;
    expanded += after;
  }
  return expanded;
}
