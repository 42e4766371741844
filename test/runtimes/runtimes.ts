import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { selfSigned } from "./self-signed.ts";

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const root = here("../../");

/** The owner of the `fetch` implementation. */
export type Engine = "node" | "bun" | "deno";

/** A program that runs a JavaScript file. */
interface Runtime {
  /** As in docs/runtimes.md. */
  readonly name: string;
  readonly engine: Engine;
  readonly program: string;
  readonly args: readonly string[];
}

const { platform, arch } = process;
const bunArch = arch === "arm64" ? "aarch64" : arch;
const libc = platform === "linux" ? "-glibc" : "";

/** The binaries are in a package for each platform. */
export const runtimes: readonly Runtime[] = [
  { name: "Node", engine: "node", program: process.execPath, args: [] },
  {
    name: "Node, the oldest",
    engine: "node",
    program: here(`node_modules/node-${platform}-${arch}/bin/node`),
    args: ["--no-warnings"],
  },
  { name: "Bun", engine: "bun", program: here(`node_modules/@oven/bun-${platform}-${bunArch}/bin/bun`), args: ["run"] },
  {
    name: "Deno",
    engine: "deno",
    program: here(`node_modules/@deno/${platform}-${arch}${libc}/deno`),
    args: ["run", "--no-lock", "--cached-only", "--allow-net", "--allow-env", "--allow-read", "--allow-write"],
  },
];

/** In CI a runtime that is missing is a failure; elsewhere its tests are skipped. */
export const isMissing = ({ program }: Runtime): boolean => !existsSync(program) && process.env.CI === undefined;

/** A project with the built package installed, and with the consumers of this folder. */
export interface Project extends AsyncDisposable {
  readonly folder: string;
  /** Runs a consumer with `input` and returns its output. Both are JSON. With `trusts`, the test's certificate is trusted. */
  run<Output>(runtime: Runtime, consumer: string, input: unknown, trusts?: boolean): Promise<Output>;
}

export async function createProject(): Promise<Project> {
  if (!existsSync(join(root, "dist/index.js"))) throw new Error("There is no build to run: run `npm run build`.");
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-runtimes-"));
  await mkdir(join(folder, "node_modules"));
  await symlink(root, join(folder, "node_modules/pod-partner"), "dir");
  await writeFile(join(folder, "package.json"), '{ "type": "module", "dependencies": { "pod-partner": "*" } }');
  return {
    folder,
    async run({ program, args }, consumer, input, trusts = false) {
      await copyFile(here(`consumers/${consumer}`), join(folder, consumer));
      const authority = join(folder, "authority.pem");
      await writeFile(authority, selfSigned.cert);
      const env = {
        ...process.env,
        INPUT: JSON.stringify(input),
        ...(trusts ? { NODE_EXTRA_CA_CERTS: authority, DENO_CERT: authority } : {}),
      };
      const { stdout } = await run(program, [...args, consumer], { cwd: folder, env, timeout: 60_000 });
      return JSON.parse(stdout);
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
