import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { OrderReference } from "pod-partner";
import { expect, onTestFinished } from "vitest";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** The output of a program, and its exit code. */
export interface Finished {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
  /** The folder in which it ran. The folder is deleted when the test ends. */
  readonly folder: string;
}

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly arguments?: readonly string[];
  /** Options of Node. */
  readonly node?: readonly string[];
}

/** Runs an example as a partner does: with this version of Node and the built package, in a new folder. */
export async function runExample(name: string, options: RunOptions = {}): Promise<Finished> {
  if (!existsSync(join(root, "dist/testing.js"))) throw new Error("There is no build to run: run `npm run build`.");
  const folder = await newFolder();
  const { POD_PARTNER_BASE_URL: _, POD_PARTNER_SECRET_KEY: __, ...environment } = process.env;
  const path = join(root, "examples", name);
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...(options.node ?? []), path, ...(options.arguments ?? [])],
      { cwd: folder, env: { ...environment, TMPDIR: folder, ...options.environment } },
      (error, output, errors) => resolve({ code: Number(error?.code ?? 0), output, errors, folder }),
    );
  });
}

/** A new folder, which is deleted when the test ends. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts an example that runs until it is ended, in a folder. It is killed when the test ends. */
export function startExample(name: string, environment: Readonly<Record<string, string>>, folder = root) {
  if (!existsSync(join(root, "dist/redis.js"))) throw new Error("There is no build: run `npm run build`.");
  const env = { ...process.env, NODE_OPTIONS: "--disable-warning=ExperimentalWarning", ...environment };
  const path = join(root, "examples", name);
  const child: ChildProcess = spawn(process.execPath, [path], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface(child.stdout ?? expect.fail("no output")).on("line", (line) => lines.push(line));
  /** Waits until the program has printed `count` lines like this. */
  const printed = (pattern: RegExp, count = 1) =>
    expect.poll(() => lines.filter((line) => pattern.test(line)).length).toBeGreaterThanOrEqual(count);
  return {
    lines,
    printed,
    /** The origin at which it listens, by the port that it prints. */
    async origin(): Promise<string> {
      await printed(/^port \d+$/);
      return `http://127.0.0.1:${lines.find((line) => line.startsWith("port "))?.slice(5)}`;
    },
    async end(signal: "SIGKILL" | "SIGTERM") {
      const exit = once(child, "exit");
      child.kill(signal);
      return exit;
    },
  };
}

/** The token of the callback URL. */
export const token = "0d5b3c9a7e1f4826";

/** Sends the callback of an order as the service does: a GET with the parameters of specification 6. */
export async function sendCallback(callbackUrl: string, reference: OrderReference): Promise<number> {
  const url = new URL(callbackUrl);
  const parameters = {
    environment: "test",
    order_reference: "shop-1",
    order_reference_v2: reference,
    store_code: "shop",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const { status } = await fetch(url);
  return status;
}
