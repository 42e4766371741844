import { posix, relative } from "node:path";
import { transformerTwoslash } from "@shikijs/vitepress-twoslash";
import { slug } from "github-slugger";
import type { MarkdownEnv, MarkdownOptions, MarkdownRenderer } from "vitepress";
import { isPage, read, resources, root, sitePath } from "./pages.ts";
import { setUpOf } from "./set-up.ts";

/** The entry points, as the reference reads them. */
const doors = Object.fromEntries(
  ["", "callbacks", "node", "opentelemetry", "postgres", "redis", "sqlite"].map((name) => [
    posix.join("pod-partner", name),
    [posix.join(root, "site/types", name, "index.d.ts")],
  ]),
);
doors["pod-partner/testing"] = [posix.join(root, "site/types/emulator/index.d.ts")];

type Rule = Parameters<MarkdownRenderer["core"]["ruler"]["push"]>[1];
type State = Parameters<Rule>[0];
type Token = State["tokens"][number];

const fileOf = ({ env }: State): string => {
  const { path, realPath }: MarkdownEnv = env;
  return relative(root, realPath ?? path);
};

/** The address of a file of the repository: a page, a file beside the pages, or a file in the repository. */
function addressOf(file: string, repository: string | undefined): string | undefined {
  if (isPage(file)) return `/${sitePath(file)}`;
  if (/^docs\/[^/]+\.\w+$/.test(file)) return file.replace("docs", "");
  return repository === undefined ? undefined : `${repository}/blob/HEAD/${file}`;
}

/** Links lead to files of the repository: here, to their pages. Without an address, a link is its text and the path in code. */
const links = (state: State, repository: string | undefined): void => {
  const folder = posix.dirname(fileOf(state));
  for (const block of state.tokens) {
    let path: string | undefined;
    block.children =
      block.children?.flatMap((token): Token[] => {
        const href = token.type === "link_open" ? token.attrGet("href") : null;
        if (href !== null && !/^(\w+:|#)/.test(href)) {
          const [target = "", anchor] = href.split("#");
          const file = posix.join(folder, target);
          const address = addressOf(file, repository);
          if (address === undefined) {
            path = file;
            return [];
          }
          token.attrSet("href", anchor === undefined ? address : `${address}#${anchor}`);
        }
        if (token.type !== "link_close" || path === undefined) return [token];
        const [open, code, close] = [
          new state.Token("text", "", 0),
          new state.Token("code_inline", "code", 0),
          new state.Token("text", "", 0),
        ];
        [open.content, code.content, close.content, path] = [" (", path, ")", undefined];
        return [open, code, close];
      }) ?? null;
  }
};

const labels = new Set([
  "Parameters",
  "Type Parameters",
  "Returns",
  "Errors",
  "Example",
  "Call Signature",
  "Default",
  "Default Value",
  "Inherited from",
  "Overrides",
]);

/** In the reference, the heading of a resource has its place in the client. The parts of a member are no headings: the search lists members. */
const partsOfMembers: Rule = (state) => {
  const file = fileOf(state);
  if (!file.startsWith("site/reference/")) return;
  const path = resources.get(posix.basename(file, ".md"));
  const name = state.tokens[1]?.children?.[0];
  if (path !== undefined && name !== undefined) name.content = `partner.${path}: ${name.content}`;
  for (const [at, token] of state.tokens.entries()) {
    const text = state.tokens[at + 1]?.content ?? "";
    if (token.type !== "heading_open" || token.tag < "h4" || !labels.has(text)) continue;
    const close = state.tokens[at + 2];
    if (close === undefined) continue;
    [token.type, token.tag, close.type, close.tag] = ["paragraph_open", "p", "paragraph_close", "p"];
    token.attrJoin("class", "part");
  }
};

/** A heading without text is none: the first cell of a table whose rows have names. */
const namelessHeadings: Rule = ({ tokens }) => {
  for (const [at, token] of tokens.entries()) {
    const close = tokens[at + 2];
    if (token.type === "th_open" && tokens[at + 1]?.content === "" && close !== undefined) {
      [token.tag, close.tag] = ["td", "td"];
    }
  }
};

/** The pictures of a page follow its switch for light and dark, which `<picture>` does not know. */
const picturesOfBoth: Rule = ({ tokens }) => {
  for (const token of tokens) {
    if (token.type !== "html_block" || !token.content.startsWith("<picture>")) continue;
    const [, dark = ""] = /srcset="([^"]+)"/.exec(token.content) ?? [];
    const [light = ""] = /<img [^>]+>/.exec(token.content) ?? [];
    const show = (theme: string, image: string) => image.replace("<img ", `<img class="in-${theme}" `);
    token.content = `<p>${show("light", light)}${show("dark", light.replace(/src="[^"]+"/, `src="${dark}"`))}</p>\n`;
  }
};

/** The proof as bars: the orders that each client of the table in docs/exactly-once.md made twice. */
function proof(): string {
  const rows = [...read("docs/exactly-once.md").matchAll(/^\| (.+?) \| [\d,]+ \| \**([\d,]+)\** \|/gm)].map(
    ([, client = "", twice = ""]) => ({
      client: client.replace(/\[(.+?)\]\(.+?\)/g, "$1").replace(/`(.+?)`/g, "<code>$1</code>"),
      twice,
      count: Number(twice.replace(",", "")),
    }),
  );
  const most = Math.max(...rows.map(({ count }) => count));
  const bars = rows.map(
    ({ client, twice, count }) =>
      `<dt>${client}</dt><dd style="--part: ${((100 * count) / most).toFixed(1)}%"><i></i><b>${twice}</b></dd>`,
  );
  return `<figure class="proof"><figcaption>Orders made twice, of 10,000</figcaption><dl>${bars.join("")}</dl></figure>`;
}

/** README.md is the start page: its code is beside its first words, its proof has bars, and the part about the repository is left out. */
const startPage: Rule = (state) => {
  if (fileOf(state) !== "README.md") return;
  const html = (content: string) => Object.assign(new state.Token("html_block", "", 0), { content });
  const tokens = state.tokens.slice(
    0,
    state.tokens.findIndex(
      ({ type }, at) => type === "heading_open" && /repository/.test(state.tokens[at + 1]?.content ?? ""),
    ),
  );
  const code = tokens.findIndex(({ type }) => type === "fence");
  const parts = tokens.flatMap(({ type, tag }, at) => (type === "heading_open" && tag === "h2" ? [at] : []));
  const table = tokens.findIndex(({ type }) => type === "table_open");
  const sections = parts.flatMap((from, index) => [
    html(`<section class="${["see", "install", "doors"][index] ?? "more"}">`),
    ...tokens.slice(from, parts[index + 1]),
    html("</section>"),
  ]);
  const start =
    '<p class="actions"><a href="./quick-start.html">Quick start</a><a href="./contents.html">All pages</a></p>';
  state.tokens = [
    html('<main><div class="hero"><div class="lead">'),
    ...tokens.slice(0, code),
    html(`${start}</div><div>`),
    ...tokens.slice(code, code + 1),
    html('</div></div><section class="evidence"><div>'),
    ...tokens.slice(code + 1, table),
    html(`</div>${proof()}</section><section class="gains">`),
    ...tokens.slice(table, parts[0]),
    html("</section>"),
    ...sections,
    html("</main>"),
  ];
};

/** The blocks of a page are one program: each shows its types as a reader of the page knows them. The search needs none. */
const showTypes: Rule = ({ tokens, env, src }) => {
  const {
    path = "",
    realPath = path,
    relativePath = "",
    isSearch = false,
  } = env as Partial<MarkdownEnv> & { isSearch?: boolean };
  if (isSearch || relativePath.includes("reference/")) return;
  let before = setUpOf(relative(root, realPath), src, root);
  for (const token of tokens) {
    if (token.type !== "fence" || !/^(ts|js)( separate)?$/.test(token.info)) continue;
    const { content } = token;
    if (!token.info.endsWith("separate")) {
      if (before !== "") token.content = `${before}// ---cut---\n${content}`;
      before += content;
    }
    token.info += " twoslash";
  }
};

/** How pages are read. `repository` is its address, once it has one. */
export const markdown = (repository?: string): MarkdownOptions => ({
  theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  // The anchors are those of GitHub.
  anchor: { slugify: slug },
  codeTransformers: [
    // By default a line that takes more than half a second, on a busy machine, loses its colours.
    { preprocess: (_, options) => void Object.assign(options, { tokenizeTimeLimit: 0 }) },
    transformerTwoslash({
      throws: false,
      twoslashOptions: {
        vfsRoot: root,
        handbookOptions: { noErrors: true },
        compilerOptions: { module: 99, moduleResolution: 100, target: 10, strict: true, types: ["node"], paths: doors },
      },
    }),
  ],
  config(md) {
    md.core.ruler.push("show-types", showTypes);
    md.core.ruler.push("links", (state) => links(state, repository));
    md.core.ruler.before("anchor", "parts-of-members", partsOfMembers);
    md.core.ruler.push("nameless-headings", namelessHeadings);
    md.core.ruler.push("pictures-of-both", picturesOfBoth);
    md.core.ruler.push("start-page", startPage);
    const fence = md.renderer.rules.fence;
    md.renderer.rules.fence = (tokens, index, ...rest) => {
      const { info = "", content = "" } = tokens[index] ?? {};
      if (info !== "mermaid") return fence?.(tokens, index, ...rest) ?? "";
      return `<Diagram code="${md.utils.escapeHtml(content)}" />\n`;
    };
  },
});
