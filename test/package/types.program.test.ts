import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { faultsIn } from "../support/compile.ts";
import { installedProject } from "./tarball.ts";
import { wrapperOf } from "./wrapper.ts";

/** How TypeScript users resolve packages; each project compiles an ES and a CommonJS module. */
const resolutions = {
  node16: { module: "node16", moduleResolution: "node16" },
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  bundler: { module: "preserve", moduleResolution: "bundler" },
};

const common = { target: "es2023", strict: true, noEmit: true, lib: ["es2023"], types: ["node"] };

/** Compiles files of the project, with the declarations of the package. Those of TypeScript and of Node do not depend on it. */
async function compile(project: string, files: readonly string[], options: object): Promise<readonly string[]> {
  const compilerOptions = { ...common, ...options };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const faults = await faultsIn(project);
  return faults
    .filter(({ file }) => !/\/(@types|undici-types|typescript-native)\//.test(file))
    .map(({ file, message }) => `${file}: ${message}`);
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
      expect(await compile(project, ["esm.mts", "commonjs.cts"], options)).toEqual([]);
    },
  );

  it("let a caller pass undefined for optional properties, and a library export what it gets but not create what only the package can", async () => {
    const project = await installedProject(["@types/node"]);
    const options = { ...resolutions.nodenext, exactOptionalPropertyTypes: true, declaration: true };
    expect(
      await compile(project, ["undefined.mts", "esm.mts", "commonjs.cts", "named.mts", "opaque.mts"], options),
    ).toEqual([]);
  });

  it("let a program add the fields that the specification does not show, to every record", async () => {
    const project = await installedProject(["@types/node"]);
    expect(await compile(project, ["augmented.mts"], resolutions.nodenext)).toEqual([]);
  });

  it("let a library export each method, bound or wrapped, and each field of each type", async () => {
    const project = await installedProject(["@types/node", "@opentelemetry/api"]);
    const options = { ...resolutions.nodenext, declaration: true, skipLibCheck: true };
    const files = ["wrapper.mts", "wrapper.cts"];
    const text = wrapperOf(join(project, "wrapper.mts"));
    expect(text).toContain('(value: e0.OrdersResource) => value["ensure"].bind(value)');
    for (const file of files) await writeFile(join(project, file), text);
    expect(await compile(project, files, options)).toEqual([]);
  });

  it.each(["es2020", "es2023"])(
    "explain which values fit when the declarations of Node are not installed, as in a worker or a browser build for %s",
    async (year) => {
      const project = await installedProject();
      const browser = { lib: [year, "dom", "dom.iterable"], types: [] };
      const files = ["without-node.mts", "node_modules/pod-partner/dist/testing.d.ts"];
      expect(await compile(project, files, { ...resolutions.bundler, ...browser })).toEqual([]);
    },
  );
});
