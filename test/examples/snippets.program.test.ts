import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { installedProject } from "../package/tarball.ts";
import { blockPrograms, type Program, pagePrograms, pages, uncheckedFences } from "./blocks.ts";
import { root } from "./process.ts";

/** The folder of a program: a page that shows an example of several files has its imports. */
function folderOf({ page }: Program): string {
  const example = join(root, "examples", basename(page, ".md"));
  return existsSync(example) ? example : join(root, "snippets");
}

/** Checks all programs at once, as the repository's own files are checked, and returns the errors with their places. */
function typeErrors(programs: readonly Program[]): readonly string[] {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: ["src/index.ts"] }, ts.sys, root);
  const files = new Map(programs.map((program) => [join(folderOf(program), program.name), program]));
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name)?.code ?? readFile(name);
  host.getSourceFile = (name, target, ...rest) => {
    const code = files.get(name)?.code;
    return code === undefined ? getSourceFile(name, target, ...rest) : ts.createSourceFile(name, code, target);
  };
  // A page names what its reader goes on with.
  const unused = { noUnusedLocals: false, noUnusedParameters: false };
  // `undici` is not installed, but its types come with those of Node.
  const paths = { ...options.paths, undici: ["./node_modules/undici-types/index.d.ts"] };
  const compiled = ts.createProgram([...files.keys()], { ...options, ...unused, paths }, host);
  return [...files].flatMap(([name, { page, above }]) =>
    ts.getPreEmitDiagnostics(compiled, compiled.getSourceFile(name)).map(({ start = 0, messageText }) => {
      const line = compiled.getSourceFile(name)?.getLineAndCharacterOfPosition(start).line ?? 0;
      return `${page}:${line - above + 1}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    }),
  );
}

/** The texts that a program must print: `console.log(…); // → 3`. */
const promised = ({ code }: Program): readonly string[] =>
  [...code.matchAll(/console\.log\(.*\)[;,]? \/\/ → (.*)$/gm)].map(([, text = ""]) => text);

interface Finished {
  readonly page: string;
  /** Those of the expected texts that it printed. */
  readonly printed: readonly string[];
  readonly failure: string | undefined;
}

/** Runs a page's program in the folder as a reader does. */
async function run(folder: string, program: Program): Promise<Finished> {
  await writeFile(join(folder, program.name), program.code);
  return new Promise((resolve) => {
    execFile(process.execPath, [program.name], { cwd: folder, timeout: 20_000 }, (error, output, errors) => {
      const printed = output.split("\n").filter((line) => promised(program).includes(line));
      resolve({ page: program.page, printed, failure: error === null ? undefined : errors });
    });
  });
}

describe("the code in the pages", () => {
  let errors: readonly string[] = [];
  beforeAll(() => {
    errors = typeErrors([...pagePrograms, ...blockPrograms]);
  });

  it.each([...new Set([...blockPrograms, ...pagePrograms].map(({ page }) => page))])(
    "%s: every block has the right types, with only the page's first block before it",
    (page) => {
      expect(errors.filter((error) => error.startsWith(`${page}:`))).toEqual([]);
    },
  );

  it("is JavaScript or TypeScript in every block, and so it is checked and run", () => {
    expect(pages.flatMap(uncheckedFences)).toEqual([]);
  });

  it("every page runs as pasted in a new folder with the packed package, and prints the expected lines", async () => {
    const folder = await installedProject(["@opentelemetry"]);
    const finished: Finished[] = [];
    for (const program of pagePrograms) finished.push(await run(folder, program));
    const expected = pagePrograms.map((program) => ({
      page: program.page,
      printed: promised(program),
      failure: undefined,
    }));
    expect(finished).toEqual(expected);
  });
});
