import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^pod-partner$/, replacement: source("./src/index.ts") },
      { find: /^pod-partner\/callbacks$/, replacement: source("./src/callbacks/index.ts") },
      { find: /^pod-partner\/node$/, replacement: source("./src/node/index.ts") },
      { find: /^pod-partner\/redis$/, replacement: source("./src/redis/index.ts") },
      { find: /^pod-partner\/sqlite$/, replacement: source("./src/sqlite/index.ts") },
      { find: /^pod-partner\/testing$/, replacement: source("./src/emulator/index.ts") },
    ],
  },
  test: {
    testTimeout: 20_000,
    // By default, vitest leaves one core to itself, so that a machine with two cores runs one test file at a time.
    maxWorkers: "100%",
    coverage: { provider: "v8", include: ["src/**/*.ts"], reporter: ["text-summary", "text"] },
    include: ["test/**/*.test.ts"],
  },
});
