/**
 * What a contributor runs after each change: format and lint; then types and, at the same time, the tests near the change. Each test
 * that loads the package is affected by each file of it, so "near" goes by names: tests that import a changed file, and tests whose
 * path has the name of a changed file or of its folder. `npm test` and `npm run test:programs` run all.
 */
import { execFileSync, spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";

const git = (...words: string[]) => execFileSync("git", words, { encoding: "utf8" }).split("\n").filter(Boolean);

const changed = [...git("diff", "--name-only", "HEAD"), ...git("ls-files", "--others", "--exclude-standard")];
const sources = changed.filter((path) => /^(src|test)\/.*\.tsx?$/.test(path));

/** The name of a file without its suffixes, and of its folder if that is not the name of a whole floor. */
const namesOf = (path: string): string[] => [
  basename(path).replace(/(\.(endpoints|schema|test|property|alone))*\.tsx?$/, ""),
  ...(path.split("/").length > 3 ? [basename(dirname(path))] : []),
];
const names = new Set(sources.flatMap(namesOf));
const isNear = (test: string): boolean => {
  const words = test.split(/[/.]/);
  if (sources.includes(test) || words.some((word) => names.has(word))) return true;
  const text = readFileSync(test, "utf8");
  return sources.some((path) => text.includes(`/${path.replace(/^test\//, "")}"`));
};

const run = (command: string, ...words: string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, words, { stdio: "inherit" });
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${command} failed`))));
  });

try {
  await run("biome", "check", "--write", "--error-on-warnings");
  // Tests that start programs, browsers and gateways take longer than the rest together.
  const tests = globSync("test/**/*.test.ts", {
    exclude: ["**/node_modules", "**/*.program.test.ts", "test/{proxies,site}"],
  });
  const near = [...tests.filter(isNear), "test/architecture/imports.test.ts"];
  await Promise.all([run("npm", "run", "--silent", "tsc"), run("vitest", "run", ...new Set(near))]);
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
}
