import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The folders in `next`, each with its own version of Next.js. */
export const nextVersions = ["14", "newest"] as const;
export type NextVersion = (typeof nextVersions)[number];

/** Where a package that belongs to a version of Next.js is installed. */
function folderOf(version: NextVersion, name: string): string | undefined {
  const { resolve } = createRequire(here(`next/${version}/package.json`));
  try {
    return dirname(resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/** In CI a version that is missing is a failure; elsewhere its tests are skipped. */
export const isNextMissing = (version: NextVersion): boolean =>
  folderOf(version, "next") === undefined && process.env.CI === undefined;

/** The app of `consumers/next`, built and started. */
export interface NextApp extends AsyncDisposable {
  /** Requests a page, and returns the words in brackets on it. */
  visit(path: string, query?: Readonly<Record<string, string>>): Promise<string | undefined>;
  /** Sends JSON to a route, and returns the JSON of its response. */
  post(path: string, json: string): Promise<unknown>;
}

async function createApp(version: NextVersion, files: Readonly<Record<string, string>>): Promise<string> {
  if (!existsSync(here("../../dist/index.js"))) throw new Error("There is no build to run: run `npm run build`.");
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-next-"));
  await cp(here("consumers/next"), folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  await mkdir(join(folder, "node_modules"));
  for (const name of ["next", "react", "react-dom"]) {
    const target = folderOf(version, name);
    if (target === undefined) throw new Error(`${name} is missing: run \`npm ci --prefix test/runtimes\`.`);
    await symlink(target, join(folder, "node_modules", name), "dir");
  }
  await symlink(here("../../"), join(folder, "node_modules/pod-partner"), "dir");
  return folder;
}

/** Builds the app with `files` added, and starts it on a free port. `env` applies to both. */
export async function startNextApp(
  version: NextVersion,
  env: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
): Promise<NextApp> {
  const folder = await createApp(version, files);
  const program = join(folder, "node_modules/next/dist/bin/next");
  const options = {
    cwd: folder,
    env: { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1", ...env },
  };
  await run(process.execPath, [program, "build"], options);
  const server = spawn(process.execPath, [program, "start", "-p", "0", "-H", "127.0.0.1"], options);
  const origin = await originOf(server.stdout);
  server.stdout.resume();
  let errors = "";
  server.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-4_000);
  });
  return {
    async visit(path, query = {}) {
      const response = await fetch(`${origin}${path}?${new URLSearchParams(query)}`);
      return /\[(\w+)\]/.exec(await response.text())?.[1];
    },
    async post(path, body) {
      const response = await fetch(`${origin}${path}`, { method: "POST", body });
      if (!response.ok) throw new Error(`${path} responds ${response.status}:\n${errors}`);
      return await response.json();
    },
    async [Symbol.asyncDispose]() {
      const gone = once(server, "exit");
      server.kill();
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Reads the address that the server prints before it is ready. */
async function originOf(stdout: NodeJS.ReadableStream): Promise<string> {
  let origin: string | undefined;
  for await (const line of createInterface(stdout)) {
    origin ??= /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (line.includes("Ready") && origin !== undefined) return origin;
  }
  throw new Error("Next.js ended before it was ready.");
}
