import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { installedProject } from "./tarball.ts";

/** How TypeScript users resolve packages today; each project compiles an ES and a CommonJS module. */
const resolutions: Readonly<Record<string, ts.CompilerOptions>> = {
  node16: { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
  nodenext: { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  bundler: { module: ts.ModuleKind.Preserve, moduleResolution: ts.ModuleResolutionKind.Bundler },
};

const withNode: ts.CompilerOptions = { lib: ["lib.es2023.d.ts"], types: ["node"] };

function compile(project: string, files: readonly string[], options: ts.CompilerOptions): readonly string[] {
  const program = ts.createProgram({
    rootNames: files.map((file) => join(project, file)),
    options: {
      target: ts.ScriptTarget.ES2023,
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      ...withNode,
      ...options,
      typeRoots: [join(project, "node_modules/@types")],
    },
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
}

describe("the packed types", () => {
  it("name no dependency, so that its types cannot break a user's compilation", async () => {
    const dist = join(await installedProject(), "node_modules/pod-partner/dist");
    const declarations = (await readdir(dist)).filter((name) => /\.d\.c?ts$/.test(name));
    const texts = await Promise.all(declarations.map((name) => readFile(join(dist, name), "utf8")));
    const imported = texts.flatMap((text) => ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName));
    expect(imported.filter((name) => !name.startsWith("./") && !name.startsWith("node:"))).toEqual([]);
  });

  it.each(Object.entries(resolutions))(
    "compile in ES and CommonJS modules under %s resolution, declarations checked too",
    async (_, options) => {
      const project = await installedProject(["@types/node"]);
      expect(compile(project, ["esm.mts", "commonjs.cts"], options)).toEqual([]);
    },
    60_000,
  );

  it("let a caller pass on what may be undefined, where TypeScript is told that this is not the same as missing", async () => {
    const project = await installedProject(["@types/node"]);
    const options = { ...resolutions.nodenext, exactOptionalPropertyTypes: true };
    expect(compile(project, ["undefined.mts", "esm.mts", "commonjs.cts"], options)).toEqual([]);
  }, 60_000);

  it("let a library export what it takes from the client", async () => {
    const project = await installedProject(["@types/node"]);
    expect(compile(project, ["named.mts"], { ...resolutions.nodenext, declaration: true })).toEqual([]);
  }, 60_000);

  it("let nobody make what only the package can make", async () => {
    const project = await installedProject(["@types/node"]);
    expect(compile(project, ["opaque.mts"], { ...resolutions.nodenext })).toEqual([]);
  }, 60_000);

  it("tell what fits where the declarations of Node are not installed, as in a worker or a browser's build", async () => {
    const project = await installedProject();
    const browser = { lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"], types: [] };
    expect(compile(project, ["without-node.mts"], { ...resolutions.bundler, ...browser })).toEqual([]);
  }, 60_000);
});
