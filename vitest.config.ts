import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What a test file contains if its client sends requests over a port. */
const overPort = /useService|useExchange|startStubService|startEmulator|createServer|matrix\/run|behindEach/;
const anyTransport = ["test/proxies", "test/flows", "test/resources", "test/unit"]
  .flatMap((folder) =>
    readdirSync(source(folder), { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
  )
  .filter((path) => path.endsWith(".test.ts") && overPort.test(readFileSync(source(path), "utf8")))
  // The rate of requests does not depend on the transport, and these tests take half a minute.
  .filter((path) => !/limit-req|gateway-limit/.test(path));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^pod-partner$/, replacement: source("./src/index.ts") },
      { find: /^pod-partner\/callbacks$/, replacement: source("./src/callbacks/index.ts") },
      { find: /^pod-partner\/node$/, replacement: source("./src/node/index.ts") },
      { find: /^pod-partner\/redis$/, replacement: source("./src/redis/index.ts") },
      { find: /^pod-partner\/sqlite$/, replacement: source("./src/sqlite/index.ts") },
      { find: /^pod-partner\/testing$/, replacement: source("./src/testing/index.ts") },
    ],
  },
  test: {
    testTimeout: 20_000,
    // By default, vitest leaves one core to itself, so that a machine with two cores runs one test file at a time.
    maxWorkers: "100%",
    coverage: { provider: "v8", include: ["src/**/*.ts"], reporter: ["text-summary", "text"] },
    projects: [
      { extends: true, test: { name: "fetch", include: ["test/**/*.test.ts"] } },
      {
        extends: true,
        // The client of these tests sends over `nodeTransport`.
        resolve: { alias: [{ find: /^pod-partner$/, replacement: source("./test/support/over-node.ts") }] },
        test: { name: "node", include: anyTransport },
      },
    ],
  },
});
