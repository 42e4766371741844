import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Whether a process can be bound to a core: it needs `taskset` and a second core. */
const pinned = spawnSync("taskset", ["-c", "1", "true"]).status === 0;

/** The pending responses of a child process: they would wait forever if it dies. */
function failWhenGone(child: ChildProcess): Promise<never> {
  return once(child, "exit").then(([code]) => {
    throw new Error(`A process of the benchmark ended with code ${code}.`);
  });
}

/** A child process that replies to each message with one message. */
export interface Partner {
  /** The first message of the process, when it is ready. */
  readonly ready: Promise<unknown>;
  ask(message: object): Promise<unknown>;
  stop(): void;
}

/** Starts a file of this folder, on a core of its own if the machine allows it. */
export function start(file: string, core: number, arguments_: readonly string[] = []): Partner {
  const node = [process.execPath, fileURLToPath(new URL(file, import.meta.url)), ...arguments_];
  const [command = "", ...rest] = pinned ? ["taskset", "-c", String(core), ...node] : node;
  const child = spawn(command, rest, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const gone = failWhenGone(child);
  gone.catch(() => undefined);
  const reply = () => Promise.race([once(child, "message").then(([message]) => message as unknown), gone]);
  return {
    ready: reply(),
    ask: (message) => {
      child.send(message);
      return reply();
    },
    stop: () => void child.kill(),
  };
}
