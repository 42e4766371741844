import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
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
  /** Whether it, or a program that it started, runs. */
  isRunning(): boolean;
}

/** The signals that end a command. */
export const endSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

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

// Also after an uncaught error, and when the reader of the output has closed it.
process.once("exit", killAll);

/** Ends a program with all that it started: as a process manager does, and what still runs after `patience` milliseconds at once. */
export async function stop(program: Program, signal: NodeJS.Signals = "SIGTERM", patience = 5_000): Promise<void> {
  program.kill(signal);
  for (const until = performance.now() + patience; performance.now() < until && program.isRunning(); ) await sleep(50);
  program.kill("SIGKILL");
  await program.ended;
}

/** The processes that run, with their parents and groups. One that has ended may be listed until its parent has noticed. */
function processes() {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat="], { encoding: "utf8" });
  const rows = (stdout ?? "").split("\n").map((line) => line.trim().split(/\s+/));
  return rows
    .filter(([, , , state = "Z"]) => !state.startsWith("Z"))
    .map(([pid, parent, group]) => ({ pid: Number(pid), parent: Number(parent), group: Number(group) }));
}

/** A process and all that it started, and what these started. A terminal can have other programs in the same process group. */
function treeOf(pid: number): readonly number[] {
  const all = processes();
  const tree = [pid];
  // The list grows while it is read.
  for (const one of tree) tree.push(...all.filter(({ parent }) => parent === one).map((child) => child.pid));
  return tree;
}

/** Sends a signal to a process, or with a negative number to a group. 0 asks whether it is there. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Starts a program in its own process group: `kill` reaches what it started, such as the Node of `npm start`. A program that reads the
 * terminal must stay in the group of the terminal.
 */
export function start(
  [command = "", ...args]: readonly string[],
  { environment, output, folder }: StartOptions,
): Program {
  const detached = !onWindows && (output === "pipe" || !process.stdin.isTTY);
  const child = spawn(command, args, {
    env: { ...process.env, ...environment },
    stdio: output === "inherit" ? "inherit" : ["ignore", "pipe", "pipe"],
    // `npm` and others are scripts on Windows.
    shell: onWindows,
    detached,
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
  // What a killed process had started belongs to another one: the tree is known only before.
  let tree: readonly number[] = [];
  const program: Program = {
    child,
    ended,
    kill: (signal) => {
      const { pid } = child;
      if (pid === undefined || onWindows) child.kill(signal);
      else if (detached) send(-pid, signal);
      else {
        tree = [...new Set([...treeOf(pid), ...tree])];
        for (const one of tree) send(one, signal);
      }
    },
    isRunning: () => {
      const { pid, exitCode, signalCode } = child;
      if (exitCode === null && signalCode === null) return pid !== undefined;
      if (pid === undefined || onWindows) return false;
      if (detached) return send(-pid, 0) && processes().some(({ group }) => group === pid);
      return processes().some((one) => one.pid !== pid && tree.includes(one.pid));
    },
  };
  running.add(program);
  child.once("exit", () => running.delete(program));
  return program;
}
