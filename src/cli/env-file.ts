import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { inOneLine } from "../util/visible.ts";
import { exitCodes, Failure } from "./arguments.ts";

/** A value with a quote at its begin and none at its end: the parser takes the quote for a part of the value. */
const isUnclosed = (value: string): boolean =>
  /^["'`]/.test(value) && (value.length === 1 || !value.endsWith(value[0] ?? ""));

/** The variables of a file, which win over those of the environment; none without a file. */
export function variablesIn(path: string | undefined): Readonly<Record<string, string>> {
  if (path === undefined) return {};
  let variables: Record<string, string>;
  try {
    // An editor of Windows may put a mark in front, which would be a part of the first name.
    variables = parseEnv(readFileSync(path, "utf8").replace(/^\uFEFF/, "")) as Record<string, string>;
  } catch (error) {
    throw new Failure(`The file ${path} cannot be read: ${inOneLine((error as Error).message)}.`, exitCodes.usage);
  }
  const unclosed = Object.keys(variables).find((name) => isUnclosed(variables[name] ?? ""));
  if (unclosed === undefined) return variables;
  throw new Failure(`The file ${path}: the value of ${unclosed} has a quote that is not closed.`, exitCodes.usage);
}
