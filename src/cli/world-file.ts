import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { ConfigurationError, Issue } from "pod-partner";
import type { ControlError, RunningEmulator, SavedWorld } from "pod-partner/testing";
import { inOneLine } from "../util/visible.ts";
import { Failure, usage } from "./arguments.ts";

/** `publicUrl` is the option of the flag `--public-url`. */
const flagOf = (option: string): string => `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Names the flag instead of the option. */
const withFlag = (message: string): string => message.replace("set `allowRemote: true`", "add --allow-remote");

/** Names the flags of `port: 4011` and `host`. */
const withFlags = (message: string): string => message.replace(/`(port|host)(?::( \d+))?`/g, "--$1$2");

const isConfigurationError = (error: unknown): error is ConfigurationError =>
  error instanceof Error && error.name === "ConfigurationError";

/** Turns the error of a failed start into one of a line, which names flags. */
export function startFailure(error: unknown): unknown {
  if (!isConfigurationError(error)) return error;
  // The options are valid, but the system does not let the server listen.
  const messages = error.issues.map(({ message }) => withFlags(message));
  if (error.cause !== undefined) return new Failure(`${messages.join("; ")}.`);
  const named = (path: Issue["path"]) =>
    /^(assumptions|POD_PARTNER_ASSUMPTIONS)$/.test(String(path[0]))
      ? path.join(".").replace(/^assumptions/, "--assumptions")
      : flagOf(String(path.at(-1)));
  const issues = error.issues.map(({ path, message }) => `${named(path)}: ${withFlag(message)}`);
  return usage(`${issues.join("; ")}.`);
}

const readings: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EISDIR: "is a folder",
  EACCES: "may not be read by this user",
};

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const reading = Object.hasOwn(readings, code) ? readings[code] : `cannot be read: ${message}`;
    throw new Failure(`The file ${path} ${reading}. Choose a world that an emulator has saved: --world <file>.`);
  }
}

/** Reads a saved world. The content is checked when it is loaded. */
export async function readWorld(path: string): Promise<unknown> {
  const text = await readText(path);
  try {
    // Some editors and shells write a byte order mark.
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    // The response of the control `world` has the world in `result`.
    return typeof value === "object" && value !== null && "result" in value ? value.result : value;
  } catch (error) {
    throw new Failure(`The file ${path} is not JSON: ${inOneLine((error as Error).message)}. Save the world again.`);
  }
}

const isControlError = (error: unknown): error is ControlError =>
  error instanceof Error && error.name === "ControlError";

/** Replaces the state of an emulator by a saved world. */
export function loadWorld(emulator: RunningEmulator, world: unknown, path: string): void {
  try {
    emulator.load(world as SavedWorld);
  } catch (error) {
    if (!isControlError(error)) throw error;
    const [first] = error.issues;
    const issue = first === undefined ? error.message : `${first.path.join(".")}: ${first.message}`;
    const named = withFlag(issue);
    if (named !== issue) throw new Failure(`The file ${path} cannot be loaded. ${named}.`);
    const more = error.issues.length > 1 ? ` (and ${error.issues.length - 1} more)` : "";
    throw new Failure(`The file ${path} is not a saved world: ${issue}${more}. Save the world again.`);
  }
}

const writings: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "its folder is a file",
  EISDIR: "it is a folder",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
};

function unsaved(path: string, error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return `The world cannot be saved in ${path}: ${Object.hasOwn(writings, code) ? writings[code] : message}.`;
}

/** A name in the folder of a file that is there, or will be. What a symbolic link names is replaced, not the link. */
function beside(path: string, isThere: boolean): { readonly target: string; readonly partial: string } {
  const target = isThere ? realpathSync(path) : resolve(path);
  return { target, partial: join(dirname(target), `.${crypto.randomUUID().slice(-12)}.part`) };
}

/** Writes a file so that it is whole, whenever the process is killed. */
function write(path: string, text: string): void {
  const there = statSync(path, { throwIfNoEntry: false });
  const { target, partial } = beside(path, there !== undefined);
  try {
    // A device or a pipe is not replaced.
    if (there?.isFile() === false) writeFileSync(path, text);
    else {
      writeFileSync(partial, text, { flag: "wx", mode: there?.mode });
      renameSync(partial, target);
    }
  } catch (error) {
    // A file that is mounted cannot be replaced.
    if ((error as NodeJS.ErrnoException).code !== "EBUSY") throw error;
    writeFileSync(path, text);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Refuses a file that cannot be written, before there is a world to lose. */
export function checkSavable(path: string): void {
  try {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    const { partial } = beside(path, there !== undefined);
    // A first file beside it shows whether the folder takes one.
    if (there?.isFile() !== false) writeFileSync(partial, "", { flag: "wx" });
    rmSync(partial, { force: true });
  } catch (error) {
    throw usage(unsaved(path, error));
  }
}

/** Saves a world for `--world`. */
export function saveWorld(world: SavedWorld, path: string): void {
  try {
    write(path, JSON.stringify(world));
  } catch (error) {
    throw new Failure(unsaved(path, error));
  }
}
