import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The tests that talk to a server over a port, whatever the transport is. */
const anyTransport = [
  "test/resources/*.test.ts",
  "test/flows/{fault-matrix,hostile-bodies,iterate-orders,late-orders,never-twice,nothing-left,refused-after-lost,stale-socket}.test.ts",
  "test/unit/{download*,never-sent,rate-limits,request,response-size,retry,secret,secret-travel,timeline,transport,upload-*,user-agent}.test.ts",
];

export default defineConfig({
  resolve: {
    alias: [
      { find: /^pod-partner$/, replacement: source("./src/index.ts") },
      { find: /^pod-partner\/node$/, replacement: source("./src/node/index.ts") },
      { find: /^pod-partner\/redis$/, replacement: source("./src/redis/index.ts") },
      { find: /^pod-partner\/testing$/, replacement: source("./src/testing/index.ts") },
    ],
  },
  test: {
    testTimeout: 20_000,
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
