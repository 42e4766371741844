/**
 * Joins the files that the client shares with the other entry points to one file, `dist/shared.js`: to load one file is faster than to load
 * thirty (decision 0016). A file with only the code of other packages stays a file, because it is minified more.
 */
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import {
  Aliases,
  closureOf,
  dist,
  type Output,
  readOutputs,
  readText,
  redirectImports,
  writeOutputs,
  writeText,
} from "./outputs.ts";

const target = "shared.js";
const outputs = await readOutputs();
const isForeign = ({ inputs }: Output): boolean =>
  Object.keys(inputs).every((path) => path.startsWith("node_modules/"));

const withClient = closureOf(outputs, ["index.js"], ["import-statement"]);
const isJoined = (name: string, output: Output) => withClient.has(name) && name !== "index.js" && !isForeign(output);
const joined = [...outputs].filter(([name, output]) => isJoined(name, output));
const others = [...outputs].filter(([name, output]) => !isJoined(name, output));

const files = new Set(joined.map(([name]) => name));
const exported = new Aliases();
for (const [name] of others) {
  const nameInShared = (file: string, binding: string) => (files.has(file) ? exported.of(file, binding) : undefined);
  await writeText(name, redirectImports(await readText(name), target, nameInShared));
}

await build({
  stdin: { contents: exported.statements, resolveDir: fileURLToPath(dist) },
  outfile: fileURLToPath(new URL(target, dist)),
  bundle: true,
  format: "esm",
  target: "node22",
  external: ["node:*", ...others.map(([name]) => `./${name}`)],
});
for (const [name] of joined) await rm(new URL(name, dist));

const importsOf = ({ imports }: Output) =>
  imports.map(({ path, kind }) => ({ path: files.has(path) ? target : path, kind }));
await writeOutputs(
  new Map([
    ...others.map(([name, output]): [string, Output] => [name, { ...output, imports: importsOf(output) }]),
    [
      target,
      {
        exports: exported.names,
        imports: joined.flatMap(([, output]) => importsOf(output)).filter(({ path }) => path !== target),
        inputs: Object.assign({}, ...joined.map(([, { inputs }]) => inputs)),
      },
    ],
  ]),
);
