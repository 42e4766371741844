import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { installedProject } from "./tarball.ts";
import { wrapperOf } from "./wrapper.ts";

/** How TypeScript users resolve packages; each project compiles an ES and a CommonJS module. */
const resolutions: Readonly<Record<string, ts.CompilerOptions>> = {
  node16: { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
  nodenext: { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  bundler: { module: ts.ModuleKind.Preserve, moduleResolution: ts.ModuleResolutionKind.Bundler },
};

const withNode: ts.CompilerOptions = { lib: ["lib.es2023.d.ts"], types: ["node"] };

const optionsOf = (project: string, options: ts.CompilerOptions): ts.CompilerOptions => ({
  target: ts.ScriptTarget.ES2023,
  strict: true,
  noEmit: true,
  skipLibCheck: false,
  ...withNode,
  ...options,
  typeRoots: [join(project, "node_modules/@types")],
});

/** The declarations of TypeScript, Node and the package, read once for all programs that read them in the same way. */
const read = new Map<string, ts.SourceFile | undefined>();

function cachedHost(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const getSourceFile: ts.CompilerHost["getSourceFile"] = (name, how, ...rest) => {
    // Each test has its own copy of the package and of the modules beside it.
    if (!/\/node_modules\/(@types|typescript|undici-types)\//.test(name)) return host.getSourceFile(name, how, ...rest);
    const format = typeof how === "object" ? how.impliedNodeFormat : undefined;
    const key = `${name} ${options.module} ${format}`;
    if (!read.has(key)) read.set(key, host.getSourceFile(name, how, ...rest));
    return read.get(key);
  };
  return { ...host, getSourceFile };
}

function compile(project: string, files: readonly string[], options: ts.CompilerOptions): readonly string[] {
  const rootNames = files.map((file) => join(project, file));
  const given = optionsOf(project, options);
  const program = ts.createProgram({ rootNames, options: given, host: cachedHost(given) });
  // The declarations of TypeScript and of Node do not depend on the package, and take longer than the rest.
  return program
    .getSourceFiles()
    .filter((file) => !program.isSourceFileDefaultLibrary(file) && !/\/(@types|undici-types)\//.test(file.fileName))
    .flatMap((file) => ts.getPreEmitDiagnostics(program, file))
    .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
}

describe("the packed types", () => {
  it("name no dependency, so that a dependency's types cannot break a user's compilation", async () => {
    const dist = join(await installedProject(), "node_modules/pod-partner/dist");
    // `pod-partner/opentelemetry` is for programs that have its package.
    const declarations = (await readdir(dist)).filter((name) => /^(?!opentelemetry\.).*\.d\.c?ts$/.test(name));
    const texts = await Promise.all(declarations.map((name) => readFile(join(dist, name), "utf8")));
    const imported = texts.flatMap((text) => ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName));
    expect(imported.filter((name) => !name.startsWith("./") && !name.startsWith("node:"))).toEqual([]);
  });

  it.each(Object.entries(resolutions))(
    "compile in ES and CommonJS modules under %s resolution, declarations included",
    async (_, options) => {
      const project = await installedProject(["@types/node"]);
      expect(compile(project, ["esm.mts", "commonjs.cts"], options)).toEqual([]);
    },
  );

  it("let a caller pass undefined for optional properties, and a library export what it gets but not create what only the package can", async () => {
    const project = await installedProject(["@types/node"]);
    const options = { ...resolutions.nodenext, exactOptionalPropertyTypes: true, declaration: true };
    expect(compile(project, ["undefined.mts", "esm.mts", "commonjs.cts", "named.mts", "opaque.mts"], options)).toEqual(
      [],
    );
  });

  it("let a program add the fields that the specification does not show, to every record", async () => {
    const project = await installedProject(["@types/node"]);
    expect(compile(project, ["augmented.mts"], resolutions.nodenext ?? {})).toEqual([]);
  });

  it("let a library export each method, bound or wrapped, and each field of each type", async () => {
    const project = await installedProject(["@types/node", "@opentelemetry/api"]);
    const options = { ...resolutions.nodenext, declaration: true, skipLibCheck: true };
    const given = optionsOf(project, options);
    const files = ["wrapper.mts", "wrapper.cts"];
    const text = wrapperOf(join(project, "wrapper.mts"), given, cachedHost(given));
    expect(text).toContain('(value: e0.OrdersResource) => value["ensure"].bind(value)');
    for (const file of files) await writeFile(join(project, file), text);
    expect(compile(project, files, options)).toEqual([]);
  });

  it.each(["es2020", "es2023"])(
    "explain which values fit when the declarations of Node are not installed, as in a worker or a browser build for %s",
    async (year) => {
      const project = await installedProject();
      const browser = { lib: [`lib.${year}.d.ts`, "lib.dom.d.ts", "lib.dom.iterable.d.ts"], types: [] };
      const files = ["without-node.mts", "node_modules/pod-partner/dist/testing.d.ts"];
      expect(compile(project, files, { ...resolutions.bundler, ...browser })).toEqual([]);
    },
  );
});
