import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/*
 * A file's name says how it runs:
 * - `*.test.ts` shares its process with others, and so the modules that they load: loading them anew takes longer than most files' tests.
 * - `*.alone.test.ts` gets a process of its own: it counts what is open there, or replaces a part of the platform.
 * - `*.program.test.ts` mostly waits for programs that it starts, and most need `npm run build`: `npm run test:programs` runs them, `npm test` the others.
 */
const alone = "test/**/*.alone.test.ts";
const program = "test/**/*.program.test.ts";
const site = "test/site/**/*.test.ts";

/** Runs the files of a project one after the other: a process is kept only for the next file in the queue. */
class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = ["program", "alone", "shared", "site"];
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
    // Only what hangs meets them, also on a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Some files mostly wait for other programs. By default, vitest leaves one core to itself.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: ByProject },
    setupFiles: ["test/support/property-seed.ts"],
    coverage: { provider: "v8", include: ["src/**/*.ts"], reporter: ["text-summary", "text"] },
    exclude: ["**/node_modules/**"],
    projects: [
      {
        extends: true,
        test: { name: "shared", isolate: false, include: ["test/**/*.test.ts"], exclude: [alone, program, site] },
      },
      { extends: true, test: { name: "alone", include: [alone] } },
      {
        extends: true,
        test: { name: "program", isolate: false, include: [program], globalSetup: "test/support/run-folder.ts" },
      },
      { extends: true, test: { name: "site", include: [site] } },
    ],
  },
});
