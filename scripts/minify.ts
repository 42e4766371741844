/**
 * Minifies all files but the client, whose lines of code the stacks of errors name (decision 0016). The client loses only its comments,
 * because the declarations have the doc comments, and is indented with tabs.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { transform } from "esbuild";

const dist = new URL("../dist/", import.meta.url);

/** The files that are tools for development. */
const tools = new Set(["testing.js", "cli.js"]);

/** The files that a feature loads at its first use. Other shared files have the name `chunk`, and entry points have no hash. */
const later = /^(?!chunk-).*-[A-Z0-9]{8}\.js$/;

/** esbuild writes the path of each source file above its code. */
const sourcesOf = (text: string): readonly string[] =>
  [...text.matchAll(/^\/\/ ((?:src|node_modules)\/\S+)$/gm)].map(([, path = ""]) => path);
const isForeign = (path: string): boolean => path.startsWith("node_modules/");

const indentation = /(?<=^\t*) {2}/gm;
const comments = /^[ \t]*(\/\*\*[\s\S]*?\*\/|\/\/ .*)\n/gm;

/** The code of the client without comments, in the same lines. Throws if that changes more than the space between the words. */
async function stripped(text: string): Promise<string> {
  const code = text.replace(comments, "").replace(indentation, "\t");
  const minify = async (given: string) => (await transform(given, { minifyWhitespace: true })).code;
  if ((await minify(code)) !== (await minify(text))) throw new Error("the client has a text of several lines");
  return code;
}

for (const name of (await readdir(dist)).filter((name) => name.endsWith(".js"))) {
  const file = new URL(name, dist);
  const text = await readFile(file, "utf8");
  const sources = sourcesOf(text);
  const isForeignOnly = sources.length > 0 && sources.every(isForeign);
  const kept = sources.filter(isForeign).map((path) => `// ${path}\n`);
  if (name === "client.js") {
    await writeFile(file, (await stripped(text)) + kept.join(""));
    continue;
  }
  const isAlone = tools.has(name) || later.test(name);
  const { code } = await transform(text, {
    // `keepNames` keeps a partner's bundler from dropping unused classes, so the client's shared files keep their identifiers instead.
    minifyIdentifiers: isAlone || isForeignOnly,
    // A partner's program and its stacks show names of the emulator. The command line is only a program.
    keepNames: name === "testing.js",
    minifyWhitespace: true,
    // It joins variables to one statement, and a partner's bundler keeps such a statement whole.
    minifySyntax: isAlone,
    lineLimit: 160,
    format: "esm",
    target: "node22",
  });
  await writeFile(file, code + kept.join(""));
}
