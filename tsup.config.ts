import { readFile } from "node:fs/promises";
import { type Plugin, transform } from "esbuild";
import { defineConfig, type Options } from "tsup";
import { notices } from "./scripts/notices.ts";

const every: Options = { target: "node22", removeNodeProtocol: false, silent: true, esbuildPlugins: [notices] };

/** Code in its shortest syntax. All names stay, for stacks, and lines are short: Node prints the line of an error that nobody catches. */
const smaller = { minifyWhitespace: true, minifySyntax: true, lineLimit: 160 };

/** The entry points that a program uses beside the client. A receiver of callbacks can be a program without a client. */
const besideClient = /[\\/]src[\\/](emulator|node|opentelemetry|postgres|redis|sqlite)[\\/]index\.ts$/;

/**
 * Makes the entry points that a program uses beside the client reach all modules of `index`. esbuild writes a file for each set of entry points
 * that share modules: so `index` loads 3 files instead of 14, in a quarter less time. And removes the doc comments, which the declarations have.
 */
const sources: Plugin = {
  name: "sources",
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const { code } = await transform(text, { loader: "ts", target: "node22", minifyWhitespace: true });
      return { contents: besideClient.test(path) ? `import "../index.ts";${code}` : code };
    });
  },
};

/** Makes CommonJS of each ES module of the build. tsup's own CommonJS replaces `?.` and `??`, and is larger. */
const asCommonJs: NonNullable<Options["plugins"]>[number] = {
  name: "as-common-js",
  async renderChunk(code) {
    return transform(code, {
      format: "cjs",
      platform: "node",
      target: "node22",
      // Jest's virtual machine has no `import()`.
      supported: { "dynamic-import": false },
      define: { "import.meta.url": "__filename" },
      ...smaller,
    });
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
  format: "esm",
  splitting: true,
  esbuildPlugins: [notices, sources],
};

const commonJs: Options = { ...library, plugins: [asCommonJs], outExtension: () => ({ js: ".cjs" }) };

/** The declarations of CommonJS, which `scripts/types.ts` shares with the ES modules. */
const declarations: Options = { ...library, format: "cjs", dts: { only: true } };

/** The command line loads the package as a partner's program does: each command only what it needs. */
const commandLine: Options = {
  ...every,
  entry: { cli: "src/cli/cli.ts" },
  format: "esm",
  external: [/^pod-partner/],
  esbuildOptions: (options) => Object.assign(options, smaller),
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

export default defineConfig([library, commonJs, declarations, commandLine, page]);
