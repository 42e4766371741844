import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { SiteConfig } from "vitepress";
import { description, entryPoints, listed, read, root, sitePath, title } from "./pages.ts";

/** Dead links and dead anchors of the built site, each as `page: link`. */
export function deadLinks(outDir: string, base: string): readonly string[] {
  const pages = new Map(
    globSync("**/*.html", { cwd: outDir }).map((file) => [`${base}${file}`, readFileSync(join(outDir, file), "utf8")]),
  );
  const files = new Set(globSync("**/*.*", { cwd: outDir }).map((file) => `${base}${file}`));
  const anchors = new Map(
    [...pages].map(([path, html]) => [path, new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))]),
  );
  return [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/<a\s[^>]*?href="([^"]+)"/g)].flatMap(([, href = ""]) => {
      const url = new URL(href.replaceAll("&amp;", "&"), `https://site.invalid${page}`);
      if (url.host !== "site.invalid") return [];
      const path = decodeURI(url.pathname.replace(/\/$/, "/index.html"));
      const anchor = decodeURIComponent(url.hash.slice(1));
      const found = files.has(path) && (anchor === "" || anchors.get(path)?.has(anchor));
      return found ? [] : [`${page}: ${href}`];
    }),
  );
}

/** Writes llms.txt and llms-full.txt (llmstxt.org), and each page as Markdown beside its HTML. */
function writeForModels({ outDir, site }: SiteConfig): void {
  const reference = globSync("site/reference/**/*.md", { cwd: root });
  for (const file of [...listed.map((page) => page.file), ...reference]) {
    const to = join(outDir, sitePath(file));
    cpSync(join(root, file), to);
  }
  const pages = listed.map(({ question, label, file }) => `- [${label}](${site.base}${sitePath(file)}): ${question}`);
  const modules = entryPoints.map((point) => `- [${point.title}](${site.base}${sitePath(point.file)})`);
  writeFileSync(
    join(outDir, "llms.txt"),
    [`# ${title}`, `> ${description}`, "## Pages", pages.join("\n"), "## Reference", modules.join("\n"), ""].join(
      "\n\n",
    ),
  );
  const texts = ["README.md", ...listed.map(({ file }) => file)].map(
    (file) => `<!-- ${file} -->\n\n${read(file).trim()}\n`,
  );
  writeFileSync(join(outDir, "llms-full.txt"), texts.join("\n"));
}

/** After the pages are built. */
export function finish(config: SiteConfig): void {
  for (const file of globSync("{docs/*.{json,yml},dist/openapi.json}", { cwd: root }))
    cpSync(join(root, file), join(config.outDir, basename(file)));
  writeForModels(config);
  const dead = deadLinks(config.outDir, config.site.base);
  if (dead.length > 0) throw new Error(`Dead links:\n${[...new Set(dead)].join("\n")}`);
}
