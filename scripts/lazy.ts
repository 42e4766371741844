/**
 * Lets the files that load later import the client's code from one file, `dist/client.js`.
 *
 * A bundler puts a file that the entry point and a later file import into a chunk of its own. Many such chunks compress worse than one
 * file (decision 0016). So the code of `index.js` moves to `client.js`, which also exports what the later files import, and `index.js`
 * exports the public names. A bundler then has one reason to split, not one for each shared file.
 */
import { readFile, writeFile } from "node:fs/promises";

interface Output {
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
}

const dist = new URL("../dist/", import.meta.url);
const read = (path: string): Promise<string> => readFile(new URL(path, dist), "utf8");

const metafile: { readonly outputs: Readonly<Record<string, Output>> } = JSON.parse(await read("metafile-esm.json"));
const outputs = new Map(
  Object.entries(metafile.outputs).map(([path, output]) => [path.replace(/^dist\//, ""), output] as const),
);

/** The files that `starts` import, themselves included. */
function closureOf(starts: readonly string[], kinds: readonly string[]): ReadonlySet<string> {
  const files = new Set(starts);
  // A set that grows while it is iterated.
  for (const file of files) {
    for (const { path, kind } of outputs.get(file)?.imports ?? []) {
      if (kinds.includes(kind)) files.add(path.replace(/^dist\//, ""));
    }
  }
  return files;
}

const doors = [...outputs.keys()].filter((path) => /^[a-z]+\.js$/.test(path));
const withClient = closureOf(["index.js"], ["import-statement"]);
/** The other entry points do not load the client, so a file that they import does not either. */
const withOthers = closureOf(
  doors.filter((door) => door !== "index.js"),
  ["import-statement"],
);
const later = [...closureOf(["index.js"], ["import-statement", "dynamic-import"])].filter(
  (path) => path.endsWith(".js") && outputs.has(path) && !withClient.has(path) && !withOthers.has(path),
);

const client = await read("index.js");
const publicNames = (/^export \{([^}]*)\};\s*$/m.exec(client)?.[1] ?? "")
  .split(",")
  .map((name) => name.trim().replace(/^.* as /, ""));

/** What `client.js` exports for the later files: by the file and the name there. */
const exported = new Map<string, string>();
const toClient = (file: string, name: string): string => {
  const alias = `${name}_${exported.size}`;
  const known = exported.get(`${name} ${file}`);
  if (known === undefined) exported.set(`${name} ${file}`, alias);
  return known ?? alias;
};

for (const path of later) {
  const text = await read(path);
  const moved = text.replace(/^import \{([^}]*)\} from "\.\/([^"]+)";$/gm, (statement, names: string, file: string) => {
    if (!withClient.has(file)) return statement;
    const bindings = names.split(",").map((binding) => {
      const [name = "", local = name] = binding.trim().split(" as ");
      return `${toClient(file, name)} as ${local}`;
    });
    return `import { ${bindings.join(", ")} } from "./client.js";`;
  });
  // No file has an effect when it loads, so an import without names does nothing.
  await writeFile(new URL(path, dist), moved.replace(/^import "[^"]+";\n/gm, ""));
}
const forLater = [...exported].map(([key, alias]) => {
  const [name, file] = key.split(" ");
  return `export { ${name} as ${alias} } from "./${file}";\n`;
});
await writeFile(new URL("client.js", dist), client + forLater.join(""));
await writeFile(new URL("index.js", dist), `export { ${publicNames.join(", ")} } from "./client.js";\n`);
