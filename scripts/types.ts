/**
 * Completes the built declarations. Exports without a value are marked as `type`: the bundler of declarations drops the word where a class
 * is exported only as a type, and a program that imports the class compiles, and fails when it starts. And `Disposable` gets its library,
 * which a program's own `lib` may lack.
 */
import { readFile, writeFile } from "node:fs/promises";
import manifest from "../package.json" with { type: "json" };

const root = new URL("../", import.meta.url);

for (const door of Object.values(manifest.exports)) {
  if (typeof door === "string") continue;
  for (const { types, default: code } of [door.import, door.require]) {
    const values = Object.keys(await import(new URL(code, root).href));
    const mark = (name: string) => (values.includes(name.replace(/^.* as /, "")) ? name : `type ${name}`);
    const text = await readFile(new URL(types, root), "utf8");
    const marked = text.replaceAll(/^export \{ (.*) \}/gm, (_, names: string) => {
      return `export { ${names.split(", ").map(mark).join(", ")} }`;
    });
    const library = /\bDisposable\b|\bAsyncDisposable\b/.test(text)
      ? '/// <reference lib="esnext.disposable" />\n'
      : "";
    await writeFile(new URL(types, root), library + marked);
  }
}
