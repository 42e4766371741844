import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Test files of these folders share processes, and so the modules that they load: loading them anew takes longer than most files' tests.
 * The files of the other folders count what is open in their process, or replace parts of the platform, and get a process of their own.
 */
const shared = "architecture|callbacks|conformance|emulator|flows|resources|types|unit";
/** As `shared`. These files mostly wait for the programs that they start, so they run first. */
const programs = "browser|cli|examples|package|places|proxies|runtimes";
/** Files of shared folders that replace a part of the platform for as long as their process runs, or that count objects in it. */
const alone = [
  "test/callbacks/follower/**/*.test.ts",
  "test/callbacks/servers.test.ts",
  "test/emulator/entry-points.test.ts",
  "test/flows/batch/memory.test.ts",
  "test/unit/abandoned-iterators.test.ts",
  "test/unit/download.test.ts",
  "test/unit/unread-download.test.ts",
];

/** Runs the files of a project one after the other: a process is kept only for the next file in the queue. */
class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = ["programs", "alone", "shared"];
    const rank = ({ project }: TestSpecification) => order.indexOf(project.name);
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^pod-partner$/, replacement: source("./src/index.ts") },
      { find: /^pod-partner\/callbacks$/, replacement: source("./src/callbacks/index.ts") },
      { find: /^pod-partner\/node$/, replacement: source("./src/node/index.ts") },
      { find: /^pod-partner\/redis$/, replacement: source("./src/redis/index.ts") },
      { find: /^pod-partner\/postgres$/, replacement: source("./src/postgres/index.ts") },
      { find: /^pod-partner\/sqlite$/, replacement: source("./src/sqlite/index.ts") },
      { find: /^pod-partner\/opentelemetry$/, replacement: source("./src/opentelemetry/index.ts") },
      { find: /^pod-partner\/testing$/, replacement: source("./src/emulator/index.ts") },
    ],
  },
  test: {
    // Only a test that hangs meets it, also on a busy machine.
    testTimeout: 60_000,
    // Some files mostly wait for other programs. By default, vitest leaves one core to itself.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: ByProject },
    setupFiles: ["test/support/property-seed.ts"],
    coverage: { provider: "v8", include: ["src/**/*.ts"], reporter: ["text-summary", "text"] },
    projects: [
      {
        extends: true,
        test: { name: "shared", isolate: false, include: [`test/(${shared})/**/*.test.ts`], exclude: alone },
      },
      {
        extends: true,
        test: {
          name: "programs",
          isolate: false,
          include: [`test/(${programs})/**/*.test.ts`],
          globalSetup: "test/support/run-folder.ts",
        },
      },
      {
        extends: true,
        test: { name: "alone", include: [`test/!(${shared}|${programs}|site)/**/*.test.ts`, ...alone] },
      },
      { extends: true, test: { name: "site", include: ["test/site/**/*.test.ts"] } },
    ],
  },
});
