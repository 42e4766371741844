/**
 * Writes the licences of the packages whose code is in `dist` to `dist/THIRD-PARTY-NOTICES.txt`. They require that their licence goes with
 * each copy.
 */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";

interface Metafile {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, unknown>> }>>;
}

const root = new URL("../", import.meta.url);
const dist = new URL("dist/", root);
/** What tsup and `scripts/page.ts` have built from. */
const metafiles = ["metafile-esm.json", "metafile-page.json"].map((name) => new URL(name, dist));

/** The folders of the packages that the builds have files of. */
function foldersIn(builds: readonly Metafile[]): readonly string[] {
  const files = builds.flatMap(({ outputs }) => Object.values(outputs)).flatMap(({ inputs }) => Object.keys(inputs));
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(file) ?? []);
  return [...new Set(folders)].sort();
}

async function noticeOf(folder: string): Promise<string> {
  const home = new URL(folder, root);
  const { name, version, license } = JSON.parse(await readFile(new URL("package.json", home), "utf8"));
  const file = (await readdir(home)).find((entry) => /^licen[cs]e(\.\w+)?$/i.test(entry));
  const own = new URL(`licences/${name}.txt`, import.meta.url);
  const text = await readFile(file === undefined ? own : new URL(file, home), "utf8").catch(() => {
    throw new Error(
      `${name} has no licence file, and ${own.pathname} is missing: its code cannot be part of the build.`,
    );
  });
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}

const builds = await Promise.all(
  metafiles.map(async (file): Promise<Metafile> => JSON.parse(await readFile(file, "utf8"))),
);
const notices = await Promise.all(foldersIn(builds).map(noticeOf));
const opening = "This package contains code of the following packages.\n";
await writeFile(new URL("THIRD-PARTY-NOTICES.txt", dist), [opening, ...notices].join(`\n${"-".repeat(80)}\n\n`));
await Promise.all(metafiles.map((file) => rm(file)));
