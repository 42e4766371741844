import { join } from "node:path";
import { defineConfig } from "vitepress";
import { finish } from "./finish.ts";
import { markdown, repositoryUrl } from "./markdown.ts";
import { description, nav, root, sidebar, sitePath, title } from "./pages.ts";

export default defineConfig({
  title,
  description,
  lang: "en",
  head: [["link", { rel: "icon", href: "/icon.svg" }]],
  srcDir: "..",
  srcExclude: [
    "CONTRIBUTING.md",
    "{coverage,dist,examples,gallery,reports,scripts,src,test}/**",
    "site/{html,types}/**",
  ],
  outDir: "../site/html",
  cacheDir: "../site/cache",
  rewrites: sitePath,
  markdown,
  metaChunk: true,
  vite: { publicDir: join(root, "src/emulator/page/client/public") },
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
            env,
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
