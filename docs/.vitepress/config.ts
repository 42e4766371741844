import { join } from "node:path";
import { defineConfig } from "vitepress";
import { finish } from "./finish.ts";
import { markdown } from "./markdown.ts";
import { description, nav, read, root, sidebar, sitePath, title } from "./pages.ts";

const { repository } = JSON.parse(read("package.json")) as {
  readonly repository?: string | { readonly url: string };
};
const written = typeof repository === "string" ? repository : repository?.url;
/** Undefined while package.json has none. */
const repositoryUrl = written?.replace(/^github:/, "https://github.com/").replace(/^git\+|\.git$/g, "");

/** What the search reads of a page: the question below its title as a part of it, a member only where it is declared, and no list of pages. */
const searchable = (source: string, page: string): string =>
  page === "docs/contents.md"
    ? ""
    : source
        .replace(/^# (.+)\n\n\*(.+)\*$/m, "# $1: $2\n\n$2")
        .split(/^(?=### )/m)
        .filter((part) => !part.includes("\n#### Inherited from\n"))
        .join("");

export default defineConfig({
  title,
  description,
  lang: "en",
  transformHead: ({ siteData }) => [["link", { rel: "icon", href: `${siteData.base}icon.svg` }]],
  srcDir: "..",
  srcExclude: [
    "CONTRIBUTING.md",
    "{coverage,dist,examples,gallery,reports,scripts,src,test}/**",
    "site/{html,types}/**",
  ],
  outDir: "../site/html",
  cacheDir: "../site/cache",
  rewrites: sitePath,
  markdown: markdown(repositoryUrl),
  metaChunk: true,
  vite: {
    // The icon of the emulator's page.
    publicDir: join(root, "src/emulator/page/client/public"),
    // The index of the search; it is loaded when somebody searches.
    build: { chunkSizeWarningLimit: 2_000 },
  },
  transformPageData: ({ relativePath, frontmatter }) =>
    relativePath === "index.md"
      ? { frontmatter: { ...frontmatter, layout: "home" }, title, titleTemplate: ":title" }
      : {},
  buildEnd: finish,
  themeConfig: {
    logo: "/icon.svg",
    nav,
    sidebar,
    outline: [2, 3],
    externalLinkIcon: true,
    docFooter: { prev: false, next: false },
    ...(repositoryUrl === undefined ? {} : { socialLinks: [{ icon: "git", link: repositoryUrl }] }),
    search: {
      provider: "local",
      options: {
        _render: (source, env, md) => md.render(searchable(source, env.relativePath), { ...env, isSearch: true }),
        miniSearch: {
          // VitePress writes these functions into the pages: they know nothing outside of themselves.
          searchOptions: {
            fuzzy: (term: string) => (term.length > 4 ? 0.2 : false),
            prefix: (term: string) => term.length > 2,
            processTerm: (term: string) =>
              /^(an?|and|are|at|can|do|does|for|from|how|i|if|in|is|it|my|of|on|or|the|to|use|what|when|where|which|with)$/i.test(
                term,
              )
                ? null
                : term.toLowerCase(),
            // A page explains; the reference, the decisions and the lists are for who looks for them by name.
            boostDocument: (id: string) =>
              /\/(reference|decisions|contributing)\/|\/changelog/.test(id)
                ? 0.4
                : /\/(agents|specification-gaps|emulator-controls|endpoints|troubleshooting|cookbook)\.|^\/#/.test(id)
                  ? 0.6
                  : 1,
          },
        },
      },
    },
  },
});
