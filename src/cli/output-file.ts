import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { inOneLine } from "../util/visible.ts";
import { exitCodes, Failure } from "./arguments.ts";

/** The room that a disk must have for each file. Bytes. */
const roomOfFile = 65_536;

/** Why a file cannot be used, in one line. */
const cannotWrite = (path: string, error: unknown): Failure =>
  new Failure(`The file ${path} cannot be written: ${inOneLine((error as Error).message)}.`, exitCodes.usage);

/** Whether a file is to be replaced as a whole. A device such as /dev/stdout is not. */
const isReplaced = (path: string): boolean => !existsSync(path) || statSync(path).isFile();

/** The file that a link names. */
const realPath = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/** Writes a file beside another one. Nothing is left of it after a failure. */
function writeBeside(path: string, content: string): string {
  const beside = `${realPath(path)}.part`;
  try {
    writeFileSync(beside, content);
    return beside;
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

/** Refuses a file that cannot be written, or a disk without room for it, before anything is sent. */
export function checkFile(path: string): void {
  try {
    if (existsSync(path)) closeSync(openSync(path, "a"));
    if (isReplaced(path)) rmSync(writeBeside(path, " ".repeat(roomOfFile)));
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** Writes a file whole: after a failure, and when the process is killed, its content is that of before. */
export function writeFile(path: string, content: string): void {
  try {
    if (isReplaced(path)) renameSync(writeBeside(path, content), realPath(path));
    else writeFileSync(path, content);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
