import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** What a child process does. */
export interface Job {
  readonly task: "count" | "open" | "fill" | "lock";
  /** The path of a file, or the URL of a Redis or Postgres. */
  readonly location: string;
  readonly times: number;
}

const worker = fileURLToPath(new URL("worker.ts", import.meta.url));

const start = (job: Job): ChildProcess =>
  spawn(process.execPath, ["--no-warnings", worker, JSON.stringify(job)], { stdio: ["ignore", "pipe", "pipe"] });

/** Does a job in a process of its own. Resolves to what the process writes to its standard error: nothing if all went well. */
export async function runChild(job: Job): Promise<string> {
  const child = start(job);
  const [errors, [code]] = await Promise.all([child.stderr ? text(child.stderr) : "", once(child, "exit")]);
  return code === 0 ? errors : `${errors}exit code ${code}`;
}

/** Starts a job, and kills its process when it is in progress. */
export async function killChild(job: Job): Promise<void> {
  const child = start(job);
  const exited = once(child, "exit");
  if (child.stdout) await Promise.race([once(child.stdout, "data"), exited]);
  child.kill("SIGKILL");
  const [, signal] = await exited;
  if (signal !== "SIGKILL") throw new Error("the process ended before it was killed");
}
