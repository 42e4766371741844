import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { endWithProcess } from "./end-with-process.ts";
import { freePort, listening } from "./port.ts";

/** Whether the machine has Redis installed. */
export const redisInstalled = spawnSync("redis-server", ["--version"]).status === 0;

/** A Redis server on a free port. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Ends it as a crash would. Without a folder, its data is lost. */
  kill(): Promise<void>;
  /** Starts it on the same port. */
  start(): Promise<void>;
  /** Suspends it: connections stay open, but commands get no reply. */
  pause(): void;
  resume(): void;
}

/** Starts a server. In a folder, it keeps each change that it has confirmed. */
export async function startRedis({ folder }: { readonly folder?: string } = {}): Promise<RedisServer> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  const server: RedisServer = {
    port,
    url: `redis://127.0.0.1:${port}`,
    start: async () => {
      const log = folder === undefined ? ["no"] : ["yes", "--appendfsync", "always", "--dir", folder];
      const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", ...log];
      child = spawn("redis-server", options, { stdio: "ignore" });
      endWithProcess(child, "KILL");
      await listening(port);
    },
    kill: async () => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
    pause: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
  };
  await server.start();
  return server;
}
