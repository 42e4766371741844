import { defineConfig } from "tsup";

/** ESM with shared chunks, so that every door has the same classes; `scripts/commonjs.ts` adds the CommonJS doors. */
export default defineConfig({
  entry: {
    index: "src/index.ts",
    node: "src/node/index.ts",
    redis: "src/redis/index.ts",
    testing: "src/testing/index.ts",
  },
  format: "esm",
  target: "node22",
  platform: "neutral",
  external: [/^node:/],
  // A bundler for a neutral platform knows `node:fs` from a package, and `fs` not.
  removeNodeProtocol: false,
  splitting: true,
  clean: true,
  silent: true,
  dts: true,
  treeshake: false,
});
