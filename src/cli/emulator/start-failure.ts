import type { ConfigurationError } from "pod-partner";
import type { StartEmulatorOptions } from "pod-partner/testing";
import { Failure, usage } from "../failure.ts";

type Explain = (options: { readonly port: number; readonly host: string }) => string;

/** What to do about an address on which the emulator cannot listen, by the code of the system's error. */
const explanations: Readonly<Record<string, Explain>> = {
  EADDRINUSE: ({ port, host }) =>
    `Port ${port} of ${host} is in use. Stop the program that uses it, or choose another port: --port ${port === 65_535 ? 4010 : port + 1} (0 is any free port).`,
  EACCES: ({ port }) => `This user may not listen on port ${port}. Choose a port above 1023: --port 4010.`,
  EADDRNOTAVAIL: ({ host }) =>
    `${host} is not an address of this machine. Choose another --host, for example 127.0.0.1.`,
  ENOTFOUND: ({ host }) => `The host name ${host} is unknown. Choose another --host, for example 127.0.0.1.`,
  EAI_AGAIN: ({ host }) =>
    `The host name ${host} could not be looked up. Choose another --host, for example 127.0.0.1.`,
};

/** `publicUrl` is the option of the flag `--public-url`. */
const flagOf = (option: string): string => `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Names the flag instead of the option. */
export const withFlag = (message: string): string => message.replace("set `allowRemote: true`", "add --allow-remote");

const isConfigurationError = (error: unknown): error is ConfigurationError =>
  error instanceof Error && error.name === "ConfigurationError";

/** Turns the error of a failed start into one that says what to do. */
export function startFailure(error: unknown, { port = 0, host = "" }: StartEmulatorOptions): unknown {
  if (isConfigurationError(error)) {
    const issues = error.issues.map(({ path, message }) => `${flagOf(String(path.at(-1)))}: ${withFlag(message)}`);
    return usage(`${issues.join("; ")}.`);
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const explain = Object.hasOwn(explanations, code) ? explanations[code] : undefined;
  return explain === undefined ? error : new Failure(explain({ port, host }));
}
