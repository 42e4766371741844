import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Starts a TypeScript file in a separate process, with options for Node. */
export const start = (file: URL, ...options: readonly string[]): ChildProcess =>
  fork(fileURLToPath(file), { execArgv: ["--no-warnings", ...options] });

/** Waits for the next message of a process, optionally after a request for it. */
export async function ask<Response>(child: ChildProcess, message?: object | string): Promise<Response> {
  const response = once(child, "message");
  if (message !== undefined) child.send(message);
  return (await response)[0] as Response;
}
