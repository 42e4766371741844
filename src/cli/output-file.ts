import { closeSync, existsSync, openSync, rmSync, writeFileSync } from "node:fs";
import { inOneLine } from "../util/visible.ts";
import { exitCodes, Failure } from "./arguments.ts";

/** Why a file cannot be used, in one line. */
const cannotWrite = (path: string, error: unknown): Failure =>
  new Failure(`The file ${path} cannot be written: ${inOneLine((error as Error).message)}.`, exitCodes.usage);

/** Refuses a file that cannot be written, before the work begins. */
export function checkFile(path: string): void {
  try {
    const isNew = !existsSync(path);
    closeSync(openSync(path, "a"));
    if (isNew) rmSync(path);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

export function writeFile(path: string, content: string): void {
  try {
    writeFileSync(path, content);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
