import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { Failure, usage } from "./arguments.ts";

/** How a program ended: its exit code, as a shell reports it. */
export interface Ended {
  /** 128 and the number of the signal, if a signal ended it. */
  readonly code: number;
}

export interface StartOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** `inherit` shows what it prints. With `pipe`, read `stdout` and `stderr` of the child. */
  readonly output: "inherit" | "pipe";
  readonly folder?: string;
}

/** A program of the user. */
export interface Program {
  readonly child: ChildProcess;
  /** Rejects with a `Failure` when it cannot be started. */
  readonly ended: Promise<Ended>;
  /** Sends a signal to it and all programs that it started. */
  kill(signal: NodeJS.Signals): void;
}

/** The program of the user. Without one, the arguments are wrong. */
export function required(program: readonly string[], name: string): readonly string[] {
  if (program.length === 0) throw usage(`A command is missing: pod-partner ${name} -- npm start.`);
  return program;
}

/** Whether commands are those of Windows. */
export const onWindows = process.platform === "win32";

const running = new Set<Program>();

/** Ends all programs at once, with what they started. */
export function killAll(): void {
  for (const { kill } of running) kill("SIGKILL");
}

/** Starts a program. In a process group of its own, `kill` reaches what it started, such as the Node of `npm start`. */
export function start(
  [command = "", ...args]: readonly string[],
  { environment, output, folder }: StartOptions,
): Program {
  const child = spawn(command, args, {
    env: { ...process.env, ...environment },
    stdio: output === "inherit" ? "inherit" : ["ignore", "pipe", "pipe"],
    // `npm` and others are scripts on Windows.
    shell: onWindows,
    // A program that reads the terminal must stay in the group of the terminal.
    detached: !onWindows && output === "pipe",
    ...(folder === undefined ? {} : { cwd: folder }),
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "ENOENT" ? "it was not found" : error.message;
      reject(new Failure(`The command ${command} cannot be started: ${reason}.`));
    });
    child.once("exit", (code, signal) => {
      resolve({ code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) });
    });
  });
  const program: Program = {
    child,
    ended,
    kill: (signal) => {
      try {
        if (child.pid !== undefined && !onWindows && output === "pipe") process.kill(-child.pid, signal);
        else child.kill(signal);
      } catch {
        // It has ended.
      }
    },
  };
  running.add(program);
  child.once("exit", () => running.delete(program));
  return program;
}
