import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** The built command line. */
export const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** How a process ended: its exit code, or the signal that killed it. */
interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process with its output. It is killed when the test ends. */
export interface Running {
  readonly pid: number | undefined;
  /** The standard output until now. */
  output(): string;
  /** The standard error output until now. */
  errors(): string;
  /** Resolves with the match when the standard output has it. Rejects when the process ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  /** Closes the reading end of the standard output. */
  closeOutput(): void;
  readonly ended: Promise<Ended>;
}

export type Environment = Readonly<Record<string, string>>;

/** Variables that change what the command line does or prints. In an unknown `CI`, Node prints no colours. */
export const ownVariables: ReadonlySet<string> = new Set([
  "POD_PARTNER_BASE_URL",
  "POD_PARTNER_SECRET_KEY",
  "POD_PARTNER_ASSUMPTIONS",
  "NO_COLOR",
  "FORCE_COLOR",
  "CI",
]);

const cleanEnvironment = (added: Environment): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !ownVariables.has(name))),
  ...added,
});

/** Starts a program. */
export function start(command: string, args: readonly string[], environment: Environment = {}): Running {
  const child = spawn(command, args, {
    env: cleanEnvironment(environment),
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: a signal reaches also the processes that the program starts, as Ctrl-C in a terminal does.
    detached: true,
  });
  const kill = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // The group has ended.
    }
  };
  const texts = { output: "", errors: "" };
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  child.stdout.on("data", (chunk) => {
    texts.output += chunk;
  });
  child.stderr.on("data", (chunk) => {
    texts.errors += chunk;
  });
  onTestFinished(() => kill("SIGKILL"));
  const until = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const check = () => {
        const match = pattern.exec(texts.output);
        if (match !== null) resolve(match);
      };
      check();
      child.stdout.on("data", check);
      ended.then(() => reject(new Error(`ended without ${pattern}: ${texts.output}${texts.errors}`)), reject);
    });
  return {
    pid: child.pid,
    output: () => texts.output,
    errors: () => texts.errors,
    until,
    kill,
    closeOutput: () => child.stdout.destroy(),
    ended,
  };
}

/** Starts the command line. */
export function startCli(args: readonly string[], environment: Environment = {}): Running {
  if (!existsSync(cli)) throw new Error("There is no build to run: run `npm run build`.");
  return start(process.execPath, [cli, ...args], environment);
}

/** Runs the command line to its end. */
export async function runCli(args: readonly string[], environment: Environment = {}) {
  const running = startCli(args, environment);
  const { code } = await running.ended;
  return { code, output: running.output(), errors: running.errors() };
}
