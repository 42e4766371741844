import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import type { DefaultTheme } from "vitepress";

export const root = fileURLToPath(new URL("../../", import.meta.url));
export const read = (file: string): string => readFileSync(join(root, file), "utf8");

const readme = read("README.md");

/** What README.md says first: its heading and its first paragraph. */
export const [title = "", description = ""] = readme.split("\n\n").map((part) => part.replace(/^# |\n/g, " ").trim());

/** An entry of docs/contents.md. */
interface Listed {
  readonly label: string;
  readonly file: string;
  readonly question: string;
}

/** The parts of docs/contents.md, each with its pages. */
const parts: ReadonlyMap<string, readonly Listed[]> = new Map(
  read("docs/contents.md")
    .split(/^## /m)
    .slice(1)
    .map((part) => [
      part.split("\n")[0] ?? "",
      [...part.matchAll(/^- \[(.+)\]\((.+)\): (.+)$/gm)].map(([, label = "", path = "", question = ""]) => ({
        label,
        file: posix.join("docs", path),
        question,
      })),
    ]),
);

export const listed: readonly Listed[] = [...parts.values()].flat();

/** The path of a page on the site, by its path in the repository. */
export const sitePath = (file: string): string =>
  file
    .replace(/^site\/(?=reference\/)|^docs\//, "")
    .replace(/(^|\/)README\.md$/, "$1index.md")
    .replace(/^[A-Z]+\.md$/, (name) => name.toLowerCase());

/** Whether a file of the repository is a page of the site. */
export const isPage = (file: string): boolean =>
  /^(README|AGENTS|CHANGELOG|SECURITY)\.md$|^(docs|site\/reference)\/.+\.md$/.test(file) &&
  existsSync(join(root, file));

const linkTo = (file: string): string => `/${sitePath(file).replace(/(index)?\.md$/, "")}`;

const item = ({ label, file }: Pick<Listed, "label" | "file">): DefaultTheme.SidebarItem => ({
  text: label,
  link: linkTo(file),
});

const guide: DefaultTheme.SidebarItem[] = [...parts].map(([text, pages]) => ({
  text,
  items: [
    ...pages.map(item),
    ...(text === "Reference"
      ? [
          { text: "API reference", link: "/reference/pod-partner/" },
          { text: "All pages", link: "/contents" },
        ]
      : []),
    ...(text === "Background"
      ? [
          { label: "Security", file: "SECURITY.md" },
          { label: "Contributing", file: "docs/contributing/README.md" },
        ].map(item)
      : []),
  ],
}));

const headed = (file: string): DefaultTheme.SidebarItem => ({
  text: /^# (.+)/.exec(read(file))?.[1] ?? file,
  link: linkTo(file),
});

const contributing: DefaultTheme.SidebarItem[] = [
  {
    text: "Contributing",
    items: ["README", "walk", "pacing", "fault-matrix", "style"].map((name) => headed(`docs/contributing/${name}.md`)),
  },
  { text: "Decisions", items: globSync("docs/decisions/*.md", { cwd: root }).sort().map(headed) },
];

/** What typedoc writes to `site/reference.json`. */
interface Entry {
  readonly title: string;
  readonly path?: string;
  readonly children?: readonly Entry[];
}

const [main] = JSON.parse(read("site/reference.json")) as readonly Entry[];
const within = main?.children ?? [];

/** The entry points, with the paths of their pages. */
export const entryPoints = [
  { title: "pod-partner", file: "site/reference/pod-partner/index.md" },
  ...within
    .filter(({ path }) => path !== undefined)
    .map(({ title, path }) => ({ title: `pod-partner/${title}`, file: `site/reference/${path}` })),
];

/** Where a resource is in the client, by its class: `catalog.products` of `ProductsResource`. */
export const resources = new Map<string, string>();
function findResources(file: string, before: string): void {
  for (const [, field = "", name = ""] of read(file).matchAll(/\*\*(\w+)\*\*: \[`(\w+Resource)`\]\(\S+\)$/gm)) {
    resources.set(name, before + field);
    findResources(`site/reference/pod-partner/interfaces/${name}.md`, `${before}${field}.`);
  }
}
findResources("site/reference/pod-partner/classes/PodPartner.md", "");

const member = (folder: string, name: string, text = name): DefaultTheme.SidebarItem => ({
  text,
  link: linkTo(`site/reference/pod-partner/${folder}/${name}.md`),
});

const classes = within.find(({ title }) => title === "Classes")?.children ?? [];

const reference: DefaultTheme.SidebarItem[] = [
  { text: "Entry points", items: entryPoints.map(({ title, file }) => ({ text: title, link: linkTo(file) })) },
  {
    text: "The client",
    items: [
      member("classes", "PodPartner"),
      member("interfaces", "PodPartnerOptions"),
      member("interfaces", "RequestOptions"),
      ...[...resources].map(([name, path]) => member("interfaces", name, path)),
    ],
  },
  {
    text: "Errors",
    items: classes.filter(({ title }) => title.endsWith("Error")).map(({ title }) => member("classes", title)),
  },
];

export const sidebar: DefaultTheme.SidebarMulti = {
  "/reference/": reference,
  "/contributing/": contributing,
  "/decisions/": contributing,
  "/": guide,
};

export const nav: DefaultTheme.NavItem[] = [
  ...guide
    .filter(({ text }) => text !== "Background" && text !== "Reference")
    .map(({ text = "", items = [] }) => ({ text, link: items[0]?.link ?? "/" })),
  { text: "Reference", link: "/reference/pod-partner/" },
];
