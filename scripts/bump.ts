/** `npm run bump`: moves the changesets into CHANGELOG.md, and writes the version that follows from them into each file that has it. */
import { execSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

/**
 * Folds the entries of changesets into the entry of the same version that is written by hand: `## 1.0.0` stands twice then, first with a list
 * of all changesets. The list comes last, under one heading.
 */
export function fold(log: string, version: string): string {
  const [head = "", ...entries] = log.split(/^(?=## )/m);
  const own = entries.filter((entry) => entry.startsWith(`## ${version}\n`));
  const [listed, written] = own;
  if (listed === undefined || written === undefined) return log;
  const changes = listed
    .replace(/^##.*\n+/gm, "")
    // Each line begins with a commit.
    .replace(/^- [0-9a-f]{7}: /gm, "- ")
    .trim();
  const folded = changes === "" ? written : `${written.trimEnd()}\n\n### Also\n\n${changes}\n\n`;
  return (
    head +
    entries
      .filter((entry) => entry !== listed)
      .join("")
      .replace(written, () => folded)
  );
}

/** A program that uses every name that an entry point exports. `surface` is its file in `test/package/surface`. */
export function namesIn(door: string, surface: string): string {
  const [exported = ""] = surface.split("// Used by these");
  const names = [...exported.matchAll(/^\/\/ (\w+)$/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "Exported");
  const from = door === "index" ? "pod-partner" : `pod-partner/${door}`;
  // Two entry points can export the same name.
  const own = names.map((name) => (door === "index" ? name : `${name} as ${door}_${name}`));
  return `export type { ${own.join(", ")} } from "${from}";\n`;
}

/** Writes the names that this version exports: every later version must have them. */
function freezeNames(version: string): void {
  const folder = `test/package/programs/${version}`;
  const parts = globSync("test/package/surface/*.txt")
    .sort()
    .map((file) => namesIn(basename(file, ".txt"), readFileSync(file, "utf8")));
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    `${folder}/names.ts`,
    `/** Every name that ${version} exports. It is compiled, not run. */\n${parts.join("")}`,
  );
  execSync(`biome check --write ${folder}`, { stdio: "inherit" });
}

function bump(): void {
  execSync("changeset version", { stdio: "inherit" });
  execSync("npm install --package-lock-only --ignore-scripts --no-audit --no-fund", { stdio: "inherit" });
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const rewrite = (file: string, change: (text: string) => string) =>
    writeFileSync(file, change(readFileSync(file, "utf8")));
  rewrite("CHANGELOG.md", (log) => fold(log, version));
  rewrite("src/util/runtime.ts", (code) => code.replace(/(?<=export const version = ")[^"]+/, version));
  freezeNames(version);
  console.log(`The version is ${version}. Review the difference, and commit it.`);
}

if (import.meta.main) bump();
