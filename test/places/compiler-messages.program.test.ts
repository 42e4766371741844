import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { root } from "../package/tarball.ts";
import { mistakes, preamble } from "./mistakes.ts";
import { toolOf } from "./places.ts";

const run = promisify(execFile);

const options = {
  target: "es2022",
  module: "nodenext",
  strict: true,
  noEmit: true,
  lib: ["es2023", "dom", "dom.asynciterable"],
  types: [],
};

/** The first line of the compiler's message for each mistake. */
async function messagesOf(compiler: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-mistakes-"));
  try {
    await mkdir(join(folder, "node_modules"));
    await symlink(root, join(folder, "node_modules/pod-partner"));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
    const names = Object.entries(mistakes);
    for (const [index, [, code]] of names.entries()) {
      await writeFile(join(folder, `${index}.ts`), `${preamble}export async function mistake() {${code}\n}\n`);
    }
    const { bin } = JSON.parse(await readFile(join(compiler, "package.json"), "utf8"));
    const compiled = run(process.execPath, [join(compiler, bin.tsc), "-p", folder, "--pretty", "false"], {
      cwd: folder,
    });
    const { stdout } = await compiled.catch((error: { readonly stdout: string }) => error);
    const lines = stdout.split("\n");
    return names
      .map(([name], index) => {
        const errors = lines
          .filter((line) => line.startsWith(`${index}.ts(`))
          .map((line) => line.replace(/^.*?\): error /, ""));
        return `${name}:\n${errors.map((error) => `  ${error}`).join("\n")}\n`;
      })
      .join("\n");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe.each([
  ["6", `${root}/node_modules/typescript`],
  ["5.7", toolOf("typescript-5.7")],
  ["7", toolOf("typescript-7")],
])("the messages of TypeScript %s about typical mistakes", (version, compiler) => {
  it.skipIf(compiler === undefined)("name the mistake, to accept a change, run this test with -u", async () => {
    const messages = await messagesOf(compiler ?? "");
    expect(messages).not.toContain("No overload matches this call");
    await expect(messages).toMatchFileSnapshot(`compiler-messages/typescript-${version}.txt`);
  });
});
