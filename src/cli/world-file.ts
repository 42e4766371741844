import { access, constants, readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { ConfigurationError } from "pod-partner";
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
  const issues = error.issues.map(({ path, message }) => `${flagOf(String(path.at(-1)))}: ${withFlag(message)}`);
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

const unsaved = (path: string, error: unknown): Failure =>
  new Failure(`The world cannot be saved in ${path}: ${(error as Error).message}.`);

/** Refuses a file that cannot be written, before there is a world to lose. */
export async function checkSavable(path: string): Promise<void> {
  try {
    await access(dirname(resolve(path)), constants.W_OK);
  } catch (error) {
    throw unsaved(path, error);
  }
}

/** Saves a world for `--world`. */
export async function saveWorld(world: SavedWorld, path: string): Promise<void> {
  try {
    await writeFile(path, JSON.stringify(world));
  } catch (error) {
    throw unsaved(path, error);
  }
}
