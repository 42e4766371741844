import { once } from "node:events";
import { start } from "../children.ts";
import type { Job, Result } from "./messages.ts";

/** Runs a client in a process of its own until it has finished, or until it has `until` outcomes: then it is killed. */
export async function runClient(job: Job, until = Number.POSITIVE_INFINITY): Promise<Result | undefined> {
  const child = start(new URL("./worker.ts", import.meta.url));
  // The last messages can come after the end of the process.
  const exit = Promise.all([once(child, "exit"), once(child, "disconnect")]);
  let result: Result | undefined;
  child.on("message", (message: Result | { readonly count: number }) => {
    if ("reasons" in message) result = message;
    else if (message.count >= until) child.kill("SIGKILL");
  });
  child.send(job);
  await exit;
  return result;
}
