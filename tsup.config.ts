import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";
import { defineConfig, type Options } from "tsup";
import { notices } from "./scripts/notices.ts";

const every: Options = { target: "node22", removeNodeProtocol: false, silent: true, esbuildPlugins: [notices] };

/**
 * Makes the entry points that a program uses beside the client reach all modules of `index`. esbuild writes a file for each set of entry points
 * that share modules: so `index` loads 3 files instead of 14, in a quarter less time. A receiver of callbacks can be a program without a client.
 * Not for CommonJS: tsup's transform takes a private field for an export of the same name, and there are more of both in a larger file.
 */
const besideClient: Plugin = {
  name: "beside-client",
  setup(build) {
    build.onLoad(
      { filter: /[\\/]src[\\/](emulator|node|opentelemetry|postgres|redis|sqlite)[\\/]index\.ts$/ },
      async ({ path }) => ({
        contents: `import "../index.ts";\n${await readFile(path, "utf8")}`,
        loader: "ts",
      }),
    );
  },
};

/** Each entry point as an ES module and as CommonJS, with the code of all dependencies (decision 0016). */
const library: Options = {
  ...every,
  entry: {
    index: "src/index.ts",
    callbacks: "src/callbacks/index.ts",
    node: "src/node/index.ts",
    opentelemetry: "src/opentelemetry/index.ts",
    postgres: "src/postgres/index.ts",
    redis: "src/redis/index.ts",
    sqlite: "src/sqlite/index.ts",
    testing: "src/emulator/index.ts",
  },
  platform: "neutral",
  external: [/^node:/, /^@opentelemetry\//],
  noExternal: [/^(?!node:|@opentelemetry\/)/],
  splitting: true,
  // `import.meta.url` in CommonJS.
  shims: true,
};

const esm: Options = { ...library, format: "esm", esbuildPlugins: [notices, besideClient] };

/** With the declarations, which `scripts/types.ts` shares with the ES modules. */
const commonJs: Options = { ...library, format: "cjs", dts: true };

/** The command line loads the package as a partner's program does: each command only what it needs. */
const commandLine: Options = {
  ...every,
  entry: { cli: "src/cli/cli.ts" },
  format: "esm",
  external: [/^pod-partner/],
};

/** The emulator reads the files of its page when a browser asks for them (decision 0019). */
const page: Options = {
  ...every,
  entry: { app: "src/emulator/page/client/main.tsx" },
  outDir: "dist/page",
  outExtension: () => ({ js: ".js" }),
  publicDir: "src/emulator/page/client/public",
  format: "iife",
  platform: "browser",
  target: ["chrome123", "firefox120", "safari17.5"],
  minify: true,
  noExternal: [/./],
  esbuildOptions: (options) => {
    options.jsx = "automatic";
    options.jsxImportSource = "preact";
  },
};

export default defineConfig([esm, commonJs, commandLine, page]);
