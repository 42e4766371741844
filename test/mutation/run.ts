import { globSync, readFileSync, statSync } from "node:fs";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";

const usage = "npm run mutation -- src/storage src/errors/base.ts [--part 0.1] [--tests 'test/unit/**']";
/** Folders whose tests start no other program and need no build. */
const quick = "test/{cache,callbacks,flows,resources,stores,transports,unit}/**/*.test.ts";
/** Lines of a file that are taken or left out together. */
const block = 12;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { part: { type: "string", default: "1" }, tests: { type: "string", default: quick } },
});
if (positionals.length === 0) throw new Error(usage);

/** The blocks of a file in which code is changed: each with the given probability. */
function blocksOf(file: string, part: number): string[] {
  if (part >= 1) return [file];
  const lines = readFileSync(file, "utf8").split("\n").length;
  const starts = Array.from({ length: Math.ceil(lines / block) }, (_, index) => index * block + 1);
  return starts.filter(() => Math.random() < part).map((start) => `${file}:${start}-${start + block - 1}`);
}

const files = positionals.flatMap((path) =>
  statSync(path).isDirectory() ? globSync(`${path.replace(/\/$/, "")}/**/*.ts`) : [path],
);
const results = await new Stryker({
  mutate: files.flatMap((file) => blocksOf(file, Number(values.part))),
  testFiles: globSync(values.tests),
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "vitest.config.ts", related: true },
  coverageAnalysis: "perTest",
  // What runs when a file is loaded needs all tests for each change.
  ignoreStatic: true,
  ignorePatterns: ["dist", "docs", "test/bench", "test/package", "test/runtimes", "test/soak"],
  reporters: ["clear-text"],
  clearTextReporter: { logTests: false, allowColor: false, reportTests: false },
  dryRunTimeoutMinutes: 30,
  timeoutMS: 20_000,
}).runMutationTest();

/** The share of the changes that a test notices, by folder. */
const byFolder = Object.groupBy(results, ({ fileName }) => fileName.replace(/^.*?(src\/.*)\/[^/]*$/, "$1"));
for (const [folder, mutants = []] of Object.entries(byFolder)) {
  const countOf = (...statuses: readonly string[]) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const killed = countOf("Killed", "Timeout");
  const all = killed + countOf("Survived", "NoCoverage");
  console.log(`${folder}: ${killed} of ${all} noticed, ${((100 * killed) / all).toFixed(1)} %`);
}
