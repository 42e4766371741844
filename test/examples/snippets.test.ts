import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { format } from "node:util";
import * as podPartner from "pod-partner";
import * as testing from "pod-partner/testing";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { installedProject, runFile } from "../package/tarball.ts";
import { type Block, blocks, pages } from "./blocks.ts";
import { clientOf, declarations, standsAlone, values } from "./preamble.ts";
import { root } from "./process.ts";

const fileOf = ({ page, line }: Block): string => join(root, `snippets/${page.replaceAll("/", "-")}-${line}.ts`);

/** Checks all blocks in one program, as the repository's own files are checked, and gives the faults by place. */
function typeCheck(): readonly string[] {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: ["src/index.ts"] }, ts.sys, root);
  const files = new Map(blocks.map((block) => [fileOf(block), block]));
  const textOf = (name: string) => {
    const block = files.get(name);
    return block && `${declarations(block)} export {};\n${block.code}`;
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => textOf(name) ?? readFile(name);
  host.getSourceFile = (name, target, ...rest) => {
    const text = textOf(name);
    return text === undefined ? getSourceFile(name, target, ...rest) : ts.createSourceFile(name, text, target);
  };
  const unused = { noUnusedLocals: false, noUnusedParameters: false };
  // Not installed: its types are, since those of Node's `fetch` come with them.
  const paths = { ...options.paths, undici: ["./node_modules/undici-types/index.d.ts"] };
  const program = ts.createProgram([...files.keys()], { ...options, ...unused, paths }, host);
  return [...files].flatMap(([name, { page, line }]) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(name)).map(({ start = 0, messageText }) => {
      const at = program.getSourceFile(name)?.getLineAndCharacterOfPosition(start).line ?? 0;
      return `${page}:${line + at - 1}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    }),
  );
}

type Run = (...values: readonly unknown[]) => Promise<void>;
/** Runs a block as who copies it does: a file of its own, in a folder with nothing but the package. */
async function runAlone({ code }: Block): Promise<readonly string[]> {
  const project = await installedProject();
  await writeFile(join(project, "order.mjs"), code);
  return (await runFile(project, "order.mjs", {})).split("\n");
}

const AsyncFunction = (async () => {}).constructor as new (...source: string[]) => Run;

/** Runs a block in this process, against an emulator, and gives what it wrote to the console. */
async function run({ code, declares }: Block): Promise<readonly string[]> {
  const given = await values();
  const modules: Readonly<Record<string, unknown>> = {
    "pod-partner": { ...podPartner, PodPartner: clientOf(given.emulator as testing.Emulator) },
    "pod-partner/testing": testing,
  };
  const require = (name: string) => modules[name] ?? process.getBuiltinModule(name);
  const written: string[] = [];
  const console = { log: (...parts: unknown[]) => written.push(format(...parts)) };
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2023 },
  });
  const scope = Object.entries({ require, exports: {}, console, ...given }).filter(([name]) => !declares.has(name));
  await new AsyncFunction(...scope.map(([name]) => name), outputText)(...scope.map(([, value]) => value));
  return written;
}

/** What a block says that it writes: `console.log(…); // → 3`. */
const promised = ({ code }: Block): readonly string[] =>
  [...code.matchAll(/console\.log\(.*\);? \/\/ → (.*)$/gm)].map(([, text = ""]) => text);

describe("the code in the pages", () => {
  let faults: readonly string[] = [];
  beforeAll(() => {
    faults = typeCheck();
  }, 120_000);

  it.each(pages)("%s: every block has the right types", (page) => {
    expect(faults.filter((fault) => fault.startsWith(`${page}:`))).toEqual([]);
  });

  it.each(blocks.filter(({ runs }) => runs).map((block) => [block.place, block] as const))(
    "%s: runs, and writes what it says",
    async (_, block) => {
      const written = await (standsAlone(block) ? runAlone(block) : run(block));
      expect(written.filter((line) => promised(block).includes(line))).toEqual(promised(block));
    },
  );
});
