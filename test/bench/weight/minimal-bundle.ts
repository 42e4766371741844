import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const esbuild = fileURLToPath(new URL("../../../node_modules/esbuild/bin/esbuild", import.meta.url));
const flags = "--bundle --minify --splitting --format=esm --platform=node --legal-comments=none --log-level=error";

/** The shortest program that uses the package. */
const program = `import { PodPartner } from "pod-partner";
export const validate = () => new PodPartner().auth.validate();
`;

interface Output {
  readonly entryPoint?: string;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
}

/** The files of the bundle that load before the first call. */
function entryOf(outputs: Readonly<Record<string, Output>>): readonly string[] {
  const all = Object.keys(outputs);
  const entry = new Set(all.filter((file) => outputs[file]?.entryPoint === "minimal.js"));
  // A set that grows while it is iterated.
  for (const file of entry) {
    for (const { path, kind } of outputs[file]?.imports ?? []) if (kind === "import-statement") entry.add(path);
  }
  return [...entry].filter((file) => all.includes(file));
}

/** The bytes of a minimal program as a bundle, minified and compressed. `project` is a folder where the package is installed. */
export function bundleMinimal(project: string) {
  writeFileSync(join(project, "minimal.js"), program);
  const args = [esbuild, "minimal.js", ...flags.split(" "), "--outdir=bundle", "--metafile=meta.json"];
  execFileSync(process.execPath, args, { cwd: project, stdio: "inherit" });
  const { outputs } = JSON.parse(readFileSync(join(project, "meta.json"), "utf8"));
  const entry = entryOf(outputs);
  // Every other file belongs to one feature, and loads at its first use.
  const forCalls = Object.keys(outputs).filter((file) => entry.includes(file) || /(distribution|p-retry)-/.test(file));
  const zipped = (files: readonly string[]) =>
    files.reduce((sum, file) => sum + gzipSync(readFileSync(join(project, file)), { level: 9 }).length, 0);
  return {
    /** The number of files that load before the first call. */
    files: entry.length,
    /** The bytes of these files. */
    entry: zipped(entry),
    /** With the files that load for a call and for its retries. */
    calls: zipped(forCalls),
  };
}
