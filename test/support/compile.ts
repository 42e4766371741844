import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import tsconfig from "../../tsconfig.json" with { type: "json" };

const root = fileURLToPath(new URL("../../", import.meta.url));
const compiler = join(root, "node_modules/typescript-native/bin/tsc");

/** An error of a compilation: the file relative to the folder that was compiled, or an empty text. */
export interface TypeFault {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Compiles a folder by its tsconfig.json, and returns all errors, also those in files that it imports. */
export async function faultsIn(folder: string): Promise<readonly TypeFault[]> {
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [compiler, "-p", folder, "--pretty", "false"], { cwd: folder }, (error, text, errors) =>
      error === null || text !== "" ? resolve(text) : reject(new Error(errors, { cause: error })),
    );
  });
  // The lines of a long message are indented.
  return Array.from(
    output.matchAll(/^(?:(\S.*)\((\d+),\d+\): )?error (.*(?:\n[ \t].*)*)/gm),
    ([, file, line, message]) => ({
      file: file ?? "",
      line: Number(line ?? 0),
      message: message ?? "",
    }),
  );
}

/** Compiles files as those of the repository are compiled: their texts by their paths, relative to its root. Returns the errors in them. */
export async function faultsOf(files: ReadonlyMap<string, string>): Promise<readonly TypeFault[]> {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
  try {
    for (const [path, text] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    await symlink(join(root, "node_modules"), join(folder, "node_modules"), "dir");
    const paths = Object.entries(tsconfig.compilerOptions.paths).map(([name, [path = ""]]) => [
      name,
      [join(root, path)],
    ]);
    const settings = {
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        // A file finds what is beside the place where it would be.
        rootDirs: [folder, root],
        // An example names what its reader goes on with.
        noUnusedLocals: false,
        noUnusedParameters: false,
        // `undici` is not installed, but its types come with those of Node.
        paths: { ...Object.fromEntries(paths), undici: [join(root, "node_modules/undici-types/index.d.ts")] },
      },
      files: [...files.keys()],
      include: [],
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(settings));
    // An example that adds fields to a type makes other files wrong.
    return (await faultsIn(folder)).filter(({ file }) => file === "" || files.has(file));
  } finally {
    await rm(folder, { recursive: true });
  }
}
