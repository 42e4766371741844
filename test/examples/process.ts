import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

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
}

/** Runs an example as a partner does: with this version of Node and the built package, in a new folder. */
export async function runExample(name: string, options: RunOptions = {}): Promise<Finished> {
  if (!existsSync(join(root, "dist/testing.js"))) throw new Error("There is no build to run: run `npm run build`.");
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { POD_PARTNER_BASE_URL: _, POD_PARTNER_SECRET_KEY: __, ...environment } = process.env;
  const path = join(root, "examples", name);
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path, ...(options.arguments ?? [])],
      { cwd: folder, env: { ...environment, TMPDIR: folder, ...options.environment } },
      (error, output, errors) => resolve({ code: Number(error?.code ?? 0), output, errors, folder }),
    );
  });
}
