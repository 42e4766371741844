import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { inOneLine } from "../util/visible.ts";
import { exitCodes, Failure } from "./arguments.ts";

/** The variables of a file, which win over those of the environment; none without a file. */
export function variablesIn(path: string | undefined): Readonly<Record<string, string>> {
  if (path === undefined) return {};
  try {
    return parseEnv(readFileSync(path, "utf8")) as Record<string, string>;
  } catch (error) {
    throw new Failure(`The file ${path} cannot be read: ${inOneLine((error as Error).message)}.`, exitCodes.usage);
  }
}
