import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";

/** Ends a program when this process ends, also when it is killed: nothing of it runs then, but its end closes the pipe to a shell. */
export function endWithProcess(child: ChildProcess, signal: "KILL" | "QUIT"): void {
  const script = `read end; kill -${signal} ${child.pid}`;
  const shell = spawn("sh", ["-c", script], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  // The number of the process can belong to another one later.
  child.once("exit", () => shell.kill("SIGKILL"));
}
