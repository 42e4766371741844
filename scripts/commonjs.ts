/**
 * Adds the CommonJS half of the package to `dist` after tsup has built the ES modules.
 *
 * Node ≥ 22.12 can `require` an ES module. So the `.cjs` of each entry point checks the version of Node and returns the ES module:
 * `import` and `require` share one copy of every class. TypeScript reads a `.d.ts` of this package as an ES module, which a CommonJS
 * module cannot import. So the declarations are `.d.cts`, which both can import, and the `.d.ts` of an entry point exports them again.
 */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { assertRuntime } from "../src/util/runtime.ts";

const dist = new URL("../dist/", import.meta.url);
const indentation = /(?<=^\t*) {4}/gm;
const relativeImport = /\b(from\s+|import\s*\(?)(["'])(\.\.?\/[^"']+)\.js\2/g;

const doors = Object.values(manifest.exports).filter((door) => typeof door === "object");
await Promise.all(
  doors.map(({ import: { default: module }, require: { default: shim } }) =>
    writeFile(
      new URL(`../${shim}`, import.meta.url),
      `${assertRuntime}\nassertRuntime();\nmodule.exports = require("./${basename(module)}");\n`,
    ),
  ),
);

const declarations = (await readdir(dist)).filter((name) => name.endsWith(".d.ts"));
await Promise.all(
  declarations.map(async (name) => {
    const text = await readFile(new URL(name, dist), "utf8");
    await writeFile(
      new URL(name.replace(/\.d\.ts$/, ".d.cts"), dist),
      text.replace(relativeImport, "$1$2$3.cjs$2").replace(indentation, "\t"),
    );
    await rm(new URL(name, dist));
  }),
);
await Promise.all(
  doors.map(({ import: { types }, require: { default: shim } }) =>
    writeFile(new URL(`../${types}`, import.meta.url), `export * from "./${basename(shim)}";\n`),
  ),
);
