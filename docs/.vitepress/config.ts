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
        // A member is found where it is declared, not in each type that inherits it.
        _render: (source, env, md) =>
          md.render(
            source
              .split(/^(?=### )/m)
              .filter((part) => !part.includes("\n#### Inherited from\n"))
              .join(""),
            { ...env, isSearch: true },
          ),
        miniSearch: {
          searchOptions: {
            // A page explains; the reference and the history of decisions are for who looks for them by name.
            boostDocument: (id: string) => (/\/(reference|decisions|contributing)\/|\/changelog/.test(id) ? 0.4 : 1),
          },
        },
      },
    },
  },
});
