import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { installedProject } from "../package/tarball.ts";
import { faultsOf } from "../support/compile.ts";
import { blockPrograms, type Program, pagePrograms, pages, uncheckedFences } from "./blocks.ts";
import { root } from "./process.ts";

/** The folder of a program: a page that shows an example of several files has its imports. */
function folderOf({ page }: Program): string {
  const example = join("examples", basename(page, ".md"));
  return existsSync(join(root, example)) ? example : "snippets";
}

/** Checks all programs at once, as the repository's own files are checked, and returns the errors with their places. */
async function typeErrors(programs: readonly Program[]): Promise<readonly string[]> {
  const byPath = new Map(programs.map((program) => [join(folderOf(program), program.name), program]));
  const faults = await faultsOf(new Map([...byPath].map(([path, { code }]) => [path, code])));
  return faults.map(({ file, line, message }) => {
    const { page = file, above = 0 } = byPath.get(file) ?? {};
    return `${page}:${line - above}: ${message}`;
  });
}

/** The texts that a program must print: `console.log(…); // → 3`. */
const promised = ({ code }: Program): readonly string[] =>
  [...code.matchAll(/console\.log\(.*\)[;,]? \/\/ → (.*)$/gm)].map(([, text = ""]) => text);

interface Finished {
  readonly printed: readonly string[];
  /** The stack of what it threw. */
  readonly failure?: string;
}

/** Runs the programs one after the other, and writes what came of each. One process loads the package once. */
const runner = `
  import { writeFileSync } from "node:fs";
  import { format } from "node:util";
  const finished = {};
  for (const name of process.argv.slice(2)) {
    const printed = [];
    console.log = (...values) => printed.push(...format(...values).split("\\n"));
    console.error(name);
    const failure = await import("./" + name).then(() => undefined, ({ stack }) => stack);
    finished[name] = { printed, failure };
  }
  writeFileSync("finished.json", JSON.stringify(finished));
`;

/** Runs the pages' programs in the folder as a reader does. */
async function run(folder: string, programs: readonly Program[]): Promise<Readonly<Record<string, Finished>>> {
  for (const { name, code } of programs) await writeFile(join(folder, name), code);
  await writeFile(join(folder, "runner.mjs"), runner);
  const names = programs.map(({ name }) => name);
  // Rejects with the names of the programs that ran when one does not end.
  await promisify(execFile)(process.execPath, ["runner.mjs", ...names], { cwd: folder, timeout: 120_000 });
  return JSON.parse(await readFile(join(folder, "finished.json"), "utf8"));
}

describe("the code in the pages", () => {
  it("has the right types in every block, with only the page's first block before it", async () => {
    expect(blockPrograms.length).toBeGreaterThan(50);
    expect(await typeErrors([...pagePrograms, ...blockPrograms])).toEqual([]);
  });

  it("is JavaScript or TypeScript in every block, and so it is checked and run", () => {
    expect(pages.flatMap(uncheckedFences)).toEqual([]);
  });

  it("every page runs as pasted in a new folder with the packed package, and prints the expected lines", async () => {
    const folder = await installedProject(["@opentelemetry"]);
    const finished = await run(folder, pagePrograms);
    const failures = pagePrograms.flatMap((program) => {
      const { printed = [], failure } = finished[program.name] ?? {};
      const shown = printed.filter((line) => promised(program).includes(line));
      if (failure === undefined && isDeepStrictEqual(shown, promised(program))) return [];
      return `${program.page}: ${failure ?? `printed only ${shown}`}`;
    });
    expect(failures).toEqual([]);
  });
});
