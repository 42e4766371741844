import type { ConfigurationError } from "pod-partner";
import { Failure, usage } from "../failure.ts";

/** `publicUrl` is the option of the flag `--public-url`. */
const flagOf = (option: string): string => `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Names the flag instead of the option. */
export const withFlag = (message: string): string => message.replace("set `allowRemote: true`", "add --allow-remote");

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
