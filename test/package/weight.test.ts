import { execFile } from "node:child_process";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { startStubService } from "../support/stub-service.ts";
import { installedProject, root, runFile } from "./tarball.ts";

const run = promisify(execFile);

interface Loaded {
  readonly files: readonly string[];
  readonly builtIn: readonly string[];
}

async function loaded(transport = "fetch"): Promise<Readonly<Record<"imported" | "called", Loaded>>> {
  await using service = await startStubService();
  service.respondAlways(() => ({ body: { message: "valid" } }));
  const output = await runFile(await installedProject(), "loaded.mjs", {
    POD_PARTNER_BASE_URL: service.baseUrl,
    POD_PARTNER_SECRET_KEY: "test-key-5up3r53cr3t-4d5f6",
    TRANSPORT: transport,
  });
  return JSON.parse(output);
}

const isOwn = (url: string) => url.includes(`/node_modules/${manifest.name}/dist/`);

interface Output {
  readonly entryPoint?: string;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
}

/** The program's bundle as esbuild splits it: all its files, and those that load before the first call. */
function filesOf(outputs: Readonly<Record<string, Output>>): { readonly all: string[]; readonly entry: string[] } {
  const all = Object.keys(outputs);
  const entry = new Set(all.filter((file) => outputs[file]?.entryPoint === "minimal.js"));
  // A set that grows while it is iterated.
  for (const file of entry) {
    for (const { path, kind } of outputs[file]?.imports ?? []) if (kind === "import-statement") entry.add(path);
  }
  return { all, entry: [...entry].filter((file) => all.includes(file)) };
}

/** Bytes of a folder, through its links. */
async function bytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder);
  const sizes = await Promise.all(
    entries.map(async (name) => {
      const path = join(folder, name);
      const entry = await stat(path);
      return entry.isDirectory() ? bytesOf(path) : entry.size;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

describe("loading the package", () => {
  it("loads no file of a dependency, neither at the import nor for a call", async () => {
    const { imported, called } = await loaded();
    expect(imported.files.length).toBeGreaterThan(0);
    // Each file takes a part of a millisecond to find, read and link.
    expect(imported.files.length).toBeLessThan(7);
    expect([...imported.files, ...called.files].filter((url) => !isOwn(url))).toEqual([]);
  });

  it("loads ky with the first client, and fetch with the first call, not at the import", async () => {
    const { imported, called } = await loaded();
    expect(called.files.map((url) => basename(url))).toEqual([expect.stringMatching(/^distribution-/)]);
    expect(called.builtIn).toContain("internal/deps/undici/undici");
    expect(imported.builtIn.filter((name) => !/^internal\/(modules|process|source_map)\//.test(name))).toEqual([]);
  });

  it("loads neither fetch, nor TLS, nor a decoder for a plain call over nodeTransport", async () => {
    const { called } = await loaded("node");
    expect(called.files.filter(isOwn).map((url) => basename(url))).toEqual(["node.js"]);
    expect(called.builtIn).toContain("_http_client");
    expect(called.builtIn.filter((name) => /undici|tls|zlib/.test(name))).toEqual([]);
  });
});

describe("the size of the package", () => {
  const program = `import { PodPartner } from "pod-partner";
export const validate = () => new PodPartner().auth.validate();
`;

  it("stays below 57 kB for the entry point of a minimal bundle, and 68 kB with ky and p-retry", async () => {
    const project = await installedProject();
    await writeFile(join(project, "minimal.js"), program);
    const options = "--bundle --minify --splitting --format=esm --platform=node --legal-comments=none --outdir=bundle";
    const esbuild = [join(root, "node_modules/esbuild/bin/esbuild"), "minimal.js", "--metafile=meta.json"];
    await run(process.execPath, [...esbuild, ...options.split(" ")], { cwd: project });
    const { outputs } = JSON.parse(await readFile(join(project, "meta.json"), "utf8"));
    const zipped = async (files: readonly string[]) => {
      const texts = await Promise.all(files.map((file) => readFile(join(project, file))));
      return texts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
    };
    const files = filesOf(outputs);
    // The program and the client: a file that loads later splits no other file off (decision 0016).
    expect(files.entry).toHaveLength(2);
    // Every other file belongs to one feature, and loads at its first use.
    const forCalls = files.all.filter((file) => files.entry.includes(file) || /(distribution|p-retry)-/.test(file));
    const [entry, all] = [await zipped(files.entry), await zipped(forCalls)];
    expect(entry).toBeLessThan(57_000);
    expect(all).toBeLessThan(68_000);
  });

  it("stays below 8 MB installed, with its dependencies", async () => {
    const installed = await bytesOf(join(await installedProject(), "node_modules"));
    console.log(`${installed} bytes`);
    expect(installed).toBeLessThan(8_000_000);
  });
});
