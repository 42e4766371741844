/**
 * Completes the built declarations. Exports without a value are marked as `type`: the bundler of declarations drops the word where a class
 * is exported only as a type, and a program that imports the class compiles, and fails when it starts. `Disposable` gets its library, which
 * a program's own `lib` may lack. And the ES modules get the declarations of the CommonJS modules: a second copy would be 0.3 MB.
 */
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import manifest from "../package.json" with { type: "json" };

const root = new URL("../", import.meta.url);

for (const door of Object.values(manifest.exports)) {
  if (typeof door === "string") continue;
  const { types, default: code } = door.require;
  const values = Object.keys(await import(new URL(code, root).href));
  const mark = (name: string) => (values.includes(name.replace(/^.* as /, "")) ? name : `type ${name}`);
  const text = await readFile(new URL(types, root), "utf8");
  const marked = text.replaceAll(/^export \{ (.*) \}/gm, (_, names: string) => {
    return `export { ${names.split(", ").map(mark).join(", ")} }`;
  });
  const library = /\bDisposable\b|\bAsyncDisposable\b/.test(text) ? '/// <reference lib="esnext.disposable" />\n' : "";
  await writeFile(new URL(types, root), library + marked);
  await writeFile(new URL(door.import.types, root), `export * from "./${basename(code)}";\n`);
}
