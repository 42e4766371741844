import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, listening } from "../../support/port.ts";
import { haproxy } from "./haproxy.ts";
import { nginx } from "./nginx.ts";
import type { Program, Rules } from "./rules.ts";

const programs = { nginx, haproxy } satisfies Record<string, Program>;
export type GatewayKind = keyof typeof programs;
export const gatewayKinds = Object.keys(programs) as readonly GatewayKind[];

/** Whether the machine has the program installed. */
export const isInstalled = (kind: GatewayKind): boolean => spawnSync(programs[kind].command, ["-v"]).status === 0;

/** A real gateway in front of a service, on a free port. */
export interface Gateway extends AsyncDisposable {
  /** Without a path: `https://127.0.0.1:8443`. */
  readonly origin: string;
  /** Reloads the configuration, as an operator does after a change. */
  reload(): void;
  /** Reloads at this interval in milliseconds, until it is disposed of, or this many times. */
  reloadEvery(ms: number, times?: number): Disposable & { readonly count: number };
}

/** Waits until it listens; if a gateway ends before that, the error contains its standard error. */
async function ready(child: ChildProcess, port: number): Promise<void> {
  const words: string[] = [];
  child.stderr?.on("data", (chunk) => words.push(String(chunk)));
  const ended = new AbortController();
  child.once("error", (error) => ended.abort(error));
  child.once("exit", () => ended.abort(new Error(`The gateway did not start: ${words.join("")}`)));
  await listening(port, ended.signal);
}

function reloadEvery(reload: () => void, ms: number, times: number) {
  const state = { count: 0 };
  const timer = setInterval(() => {
    reload();
    state.count += 1;
    if (state.count >= times) clearInterval(timer);
  }, ms);
  return {
    get count() {
      return state.count;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

export async function startGateway(kind: GatewayKind, rules: Rules): Promise<Gateway> {
  const program = programs[kind];
  const folder = await mkdtemp(join(tmpdir(), `pod-partner-${kind}-`));
  const configuration = join(folder, "configuration");
  const port = await freePort();
  await writeFile(configuration, program.configure(rules, port, folder));
  const child = spawn(program.command, program.args(configuration), { stdio: ["ignore", "ignore", "pipe"] });
  // A test that times out disposes of nothing: the gateway must not outlive the process.
  const end = () => void child.kill("SIGTERM");
  process.once("exit", end);
  await ready(child, port);
  const reload = () => void child.kill(program.reload);
  return {
    origin: `${rules.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    reload,
    reloadEvery: (ms, times = Number.POSITIVE_INFINITY) => reloadEvery(reload, ms, times),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, "exit");
        end();
        await gone;
      }
      process.off("exit", end);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
