import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { inject, onTestFinished } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const run = promisify(execFile);

export const root = fileURLToPath(new URL("../../", import.meta.url));
const modules = join(root, "node_modules");
const consumers = fileURLToPath(new URL("consumers/", import.meta.url));

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

interface Packed {
  readonly path: string;
  /** The names of its files. */
  readonly files: readonly string[];
  /** Its compressed size in bytes. */
  readonly size: number;
  /** The bytes of its files. */
  readonly unpackedSize: number;
}

/** The tarball as it would be published. It is packed once for a run, or twice when two files begin at the same time. */
export async function pack(): Promise<Packed> {
  const shared = inject("runFolder");
  const known = join(shared, "packed.json");
  if (!existsSync(known)) {
    if (!existsSync(join(root, "dist/index.cjs"))) throw new Error("There is no build to pack: run `npm run build`.");
    const folder = await mkdtemp(join(shared, "tarball-"));
    const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
      cwd: root,
    });
    const [{ filename, files, size, unpackedSize }] = JSON.parse(stdout) as [
      { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
    ];
    const names = files.map(({ path }) => path).sort();
    const packed: Packed = { path: join(folder, filename), files: names, size, unpackedSize };
    await writeFile(join(folder, "packed.json"), JSON.stringify(packed));
    await rename(join(folder, "packed.json"), known);
  }
  return JSON.parse(await readFile(known, "utf8"));
}

async function link(name: string, into: string): Promise<void> {
  const target = join(into, name);
  await mkdir(dirname(target), { recursive: true });
  await symlink(join(modules, name), target, "dir");
}

/** Links the package's commands into `node_modules/.bin`, as npm does. */
async function linkCommands(installed: string): Promise<void> {
  await mkdir(join(installed, ".bin"));
  for (const [name, file] of Object.entries(manifest.bin)) {
    await chmod(join(installed, manifest.name, file), 0o755);
    await symlink(join("..", manifest.name, file), join(installed, ".bin", name));
  }
}

/**
 * A project that has the packed package installed beside nothing but `extras`, holding the files
 * of `test/package/consumers`. It needs no network.
 */
export async function installedProject(extras: readonly string[] = []): Promise<string> {
  const [{ path }, project] = await Promise.all([pack(), temporaryFolder()]);
  const installed = join(project, "node_modules");
  const home = join(installed, manifest.name);
  await mkdir(home, { recursive: true });
  await run("tar", ["-xzf", path, "-C", home, "--strip-components", "1"]);
  await Promise.all(extras.map((name) => link(name, installed)));
  await linkCommands(installed);
  await cp(consumers, project, { recursive: true });
  return project;
}

/** Runs one of the project's files with this version of Node; rejects with its output when it fails. */
export async function runFile(project: string, file: string, environment: Record<string, string>): Promise<string> {
  const { stdout } = await run(process.execPath, [file], { cwd: project, env: { ...process.env, ...environment } });
  return stdout;
}
