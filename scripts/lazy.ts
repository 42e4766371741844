/**
 * Lets the files that load later import the client's code from one file, `dist/client.js`.
 *
 * A bundler puts a file that the entry point and a later file import into a chunk of its own. Many such chunks compress worse than one
 * file (decision 0016). So the code of `index.js` moves to `client.js`, which also exports what the later files import, and `index.js`
 * exports the public names. A bundler then has one reason to split, not one for each shared file.
 */
import { Aliases, closureOf, readOutputs, readText, redirectImports, writeText } from "./outputs.ts";

const outputs = await readOutputs();
const doors = [...outputs.keys()].filter((path) => /^[a-z]+\.js$/.test(path) && path !== "shared.js");
const withClient = closureOf(outputs, ["index.js"], ["import-statement"]);
/** The other entry points do not load the client, so a file that they import does not either. */
const withOthers = closureOf(
  outputs,
  doors.filter((door) => door !== "index.js"),
  ["import-statement"],
);
const later = [...closureOf(outputs, ["index.js"], ["import-statement", "dynamic-import"])].filter(
  (path) => outputs.has(path) && !withClient.has(path) && !withOthers.has(path),
);

const client = await readText("index.js");
const publicNames = (/^export \{([^}]*)\};\s*$/m.exec(client)?.[1] ?? "")
  .split(",")
  .map((name) => name.trim().replace(/^.* as /, ""));

const exported = new Aliases(publicNames);
const nameInClient = (file: string, name: string) => (withClient.has(file) ? exported.of(file, name) : undefined);
for (const name of later) await writeText(name, redirectImports(await readText(name), "client.js", nameInClient));
await writeText("client.js", client + exported.statements);
await writeText("index.js", `export { ${publicNames.join(", ")} } from "./client.js";\n`);
