import { defineConfig } from "tsup";
import manifest from "./package.json" with { type: "json" };

/** ESM with shared chunks, so that every door has the same classes; `scripts/commonjs.ts` adds the CommonJS doors. */
const library = defineConfig({
  entry: {
    index: "src/index.ts",
    callbacks: "src/callbacks/index.ts",
    node: "src/node/index.ts",
    redis: "src/redis/index.ts",
    sqlite: "src/sqlite/index.ts",
    testing: "src/emulator/index.ts",
  },
  format: "esm",
  target: "node22",
  platform: "neutral",
  external: [/^node:/],
  // Loading one file is several times faster than loading the dependencies' 120 files (decision 0016).
  noExternal: Object.keys(manifest.dependencies),
  // A bundler for a neutral platform knows `node:fs` from a package, and `fs` not.
  removeNodeProtocol: false,
  splitting: true,
  silent: true,
  dts: true,
  treeshake: false,
  // `scripts/notices.ts` reads from it whose code the build has, and removes it.
  metafile: true,
});

/**
 * The command line is one file, which loads the package as a partner's program does. So the library's chunks do not depend on it, and
 * each command loads only what it needs.
 */
const commandLine = defineConfig({
  entry: { cli: "src/cli/cli.ts" },
  format: "esm",
  target: "node22",
  platform: "node",
  external: [/^pod-partner/],
  removeNodeProtocol: false,
  splitting: false,
  silent: true,
});

export default [library, commandLine];
