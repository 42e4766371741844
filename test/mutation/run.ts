import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

const usage =
  "npm run mutation -- src/storage src/errors/base.ts:20-40 [--part 0.1] [--seed 2] [--tests 'test/storage/**'] [--fresh]";
/** Tests that start programs, or take long and notice little that others do not. */
const slow = [
  "test/**/*.{program,property}.test.ts",
  "test/binary/unread-download.alone.test.ts",
  "test/callbacks/flood.alone.test.ts",
  "test/callbacks/servers.alone.test.ts",
  "test/client/wrong-values.test.ts",
  "test/errors/bounded-errors.test.ts",
  "test/http/**/*.alone.test.ts",
  "test/http/{fault-matrix,secret}.test.ts",
  "test/http/pacing/{gateway-limit,single-client,without-levels}.test.ts",
  "test/pagination/abandoned-iterators.alone.test.ts",
  "test/resources/renders/batch/{memory.alone,readable}.test.ts",
  "test/storage/every-storage.test.ts",
  "test/util/node-version.test.ts",
];
/** Lines of a file that are taken or left out together. */
const block = 12;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    part: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    /** By default, those of the folders that are mutated. */
    tests: { type: "string", multiple: true },
    // Each change gets a new thread and all of the tests: for code that runs once a process, such as schemas. Name few tests.
    fresh: { type: "boolean", default: false },
  },
});
if (positionals.length === 0) throw new Error(usage);

/** The blocks of a file in which code is changed: each with the given probability, and the same ones for the same seed. */
function blocksOf(file: string, part: number): string[] {
  if (part >= 1 || file.includes(":")) return [file];
  const lines = readFileSync(file, "utf8").split("\n").length;
  const starts = Array.from({ length: Math.ceil(lines / block) }, (_, index) => index * block + 1);
  const drawn = (start: number) =>
    createHash("sha256").update(`${values.seed} ${file}:${start}`).digest().readUInt32BE() / 2 ** 32;
  return starts.filter((start) => drawn(start) < part).map((start) => `${file}:${start}-${start + block - 1}`);
}

const files = positionals.flatMap((path) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ? globSync(`${path.replace(/\/$/, "")}/**/*.ts`) : [path],
);
/** The tests of a file's folder: `test/` has the folders of `src/`, and `client` for the files that are in none. */
const testsOf = (file: string) =>
  `${dirname(file).replace(/^src$/, "src/client").replace(/^src/, "test")}/**/*.test.ts`;
const folder = mkdtempSync(join(tmpdir(), "pod-partner-mutation-"));
const report = join(folder, "report.json");
const settings = {
  mutate: files.flatMap((file) => blocksOf(file, Number(values.part))),
  testFiles: globSync(values.tests ?? files.map(testsOf), { exclude: slow }),
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  concurrency: 1,
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
  // What runs when a file is loaded needs all tests for each change.
  ...(values.fresh ? { coverageAnalysis: "off" } : { coverageAnalysis: "perTest", ignoreStatic: true }),
  ignorePatterns: ["dist", "docs", "test/bench", "test/package", "test/runtimes"],
  reporters: ["clear-text", "json", "progress-append-only"],
  jsonReporter: { fileName: report },
  clearTextReporter: { logTests: false, allowColor: false, reportTests: false },
  dryRunTimeoutMinutes: 30,
  timeoutMS: 12_000,
};
writeFileSync(join(folder, "stryker.json"), JSON.stringify(settings));
const environment = { ...process.env, RUNS_OF_THREAD: values.fresh ? "1" : "40" };
const arguments_ = ["stryker", "run", join(folder, "stryker.json")];
const { status } = spawnSync("npx", arguments_, { stdio: "inherit", env: environment });

interface Report {
  readonly files: Readonly<
    Record<string, { readonly mutants: readonly { readonly status: string; readonly static?: boolean }[] }>
  >;
}
if (status === 0) {
  const { files: mutated } = JSON.parse(readFileSync(report, "utf8")) as Report;
  /** How many changes a test notices, and of how many, by folder. */
  const byFolder = Map.groupBy(Object.entries(mutated), ([file]) => file.replace(/\/[^/]*$/, ""));
  for (const [name, entries] of byFolder) {
    // What runs when a file is loaded has run before the change: no test can notice it here.
    const changes = entries.flatMap(([, { mutants }]) => mutants.filter((mutant) => mutant.static !== true));
    const states = changes.map(({ status: state }) => state);
    const countOf = (...kinds: readonly string[]) => states.filter((state) => kinds.includes(state)).length;
    const noticed = countOf("Killed", "Timeout");
    const all = noticed + countOf("Survived", "NoCoverage");
    console.log(`${name}: ${noticed} of ${all} changes noticed, ${((100 * noticed) / all).toFixed(1)} %`);
  }
}
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
