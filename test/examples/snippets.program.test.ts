import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { concurrently } from "../../src/util/concurrency.ts";
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
      resolve({ printed, failure: error === null ? undefined : errors });
    });
  });
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
    const failures: string[] = [];
    for await (const { input: program, ...outcome } of concurrently(pagePrograms, 4, (one) => run(folder, one))) {
      const { printed, failure } = outcome.ok ? outcome.value : { printed: [], failure: String(outcome.error) };
      if (failure !== undefined || !isDeepStrictEqual(printed, promised(program))) {
        failures.push(`${program.page}: ${failure ?? `printed only ${printed}`}`);
      }
    }
    expect(failures).toEqual([]);
  });
});
