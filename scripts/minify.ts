/**
 * Minifies the emulator, the command line, and the files that several entry points share, that load later, or that are code of other
 * packages. The entry points of the client keep their lines of code, because the stacks of errors name them (decision 0016), but not their
 * doc comments, which the declarations have.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { transform } from "esbuild";

const dist = new URL("../dist/", import.meta.url);

/** The files that are tools for development. */
const tools = new Set(["testing.js", "cli.js"]);

/** esbuild adds a hash to the names of files that are not entry points. */
const hashed = /-[A-Z0-9]{8}\.js$/;

/** esbuild writes the path of each source file above its code. */
const sourcesOf = (text: string): readonly string[] =>
  [...text.matchAll(/^\/\/ ((?:src|node_modules)\/\S+)$/gm)].map(([, path = ""]) => path);
const isForeign = (path: string): boolean => path.startsWith("node_modules/");

const docComments = /^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm;

for (const name of (await readdir(dist)).filter((name) => name.endsWith(".js"))) {
  const file = new URL(name, dist);
  const text = await readFile(file, "utf8");
  const sources = sourcesOf(text);
  const isForeignOnly = sources.length > 0 && sources.every(isForeign);
  if (!tools.has(name) && !isForeignOnly && !hashed.test(name)) {
    await writeFile(file, text.replace(docComments, ""));
    continue;
  }
  const { code } = await transform(text, {
    // `keepNames` keeps a partner's bundler from dropping unused classes, so the client's shared files keep their identifiers instead.
    minifyIdentifiers: tools.has(name) || isForeignOnly,
    keepNames: tools.has(name),
    minifyWhitespace: true,
    // It joins variables to one statement, and a partner's bundler keeps such a statement whole.
    minifySyntax: tools.has(name),
    lineLimit: 160,
    format: "esm",
    target: "node22",
  });
  const kept = sources.filter(isForeign).map((path) => `// ${path}\n`);
  await writeFile(file, code + kept.join(""));
}
