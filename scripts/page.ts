/**
 * Builds the emulator's page to `dist/page`: one script with its libraries, one style sheet, one icon. The emulator reads them when a
 * browser asks for the page (decision 0019).
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";

const root = new URL("../", import.meta.url);
const client = new URL("src/emulator/page/client/", root);
const target = new URL("dist/page/", root);

/** Replaces a file at once, so that no reader gets half of it. */
async function replace(name: string, content: Uint8Array): Promise<void> {
  const partial = new URL(`${name}.${process.pid}`, target);
  await writeFile(partial, content);
  await rename(partial, new URL(name, target));
}

/** Bundles the page. Returns what it was built from. */
export async function buildPage(): Promise<Metafile> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: fileURLToPath(root),
    entryPoints: [
      { in: fileURLToPath(new URL("main.tsx", client)), out: "app" },
      { in: fileURLToPath(new URL("styles/app.css", client)), out: "app" },
    ],
    outdir: fileURLToPath(target),
    write: false,
    bundle: true,
    minify: true,
    format: "iife",
    target: ["chrome123", "firefox120", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    metafile: true,
  });
  await mkdir(target, { recursive: true });
  for (const { path, contents } of outputFiles) await replace(basename(path), contents);
  await replace("icon.svg", await readFile(new URL("icon.svg", client)));
  return metafile;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeFile(new URL("dist/metafile-page.json", root), JSON.stringify(await buildPage()));
}
